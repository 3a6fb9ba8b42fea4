package conformance

import (
	"context"
	"io/fs"
	"time"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Subject is an operator and what it is tried with: the CRDs of its kinds and samples of what it works on. Fields that
// the Subject of package agent has as well have the same names there. Paths are relative to the package of the test.
type Subject struct {
	// Controller is a stepped reconciler. Name, For, Routes and New are enough: what the
	// laws need beside, as Owns, Selector, Replicas and Finalizers, is found out where it
	// is not declared.
	Controller host.Controller
	// Run is a whole program, which is hosted as it stands (package bubble): a manager, an
	// operator's main, anything that takes a configuration and serves until its context ends.
	// It is one or the other; of Controller then only what is known of the program counts:
	// For, where the sample does not say it, and what the laws may ask.
	Run func(ctx context.Context, config *rest.Config) error
	// Others are further stepped reconcilers of the operator. They run beside Controller, and are judged by what they
	// declare.
	Others []host.Controller
	// With names controllers of this module to run beside it ("replicaset", "deployment"). The garbage collector always
	// does, and so do those that finish what quiet runs show it to create, as the Job controller and a kubelet.
	With []string

	// CRDs holds the CustomResourceDefinitions of its kinds, in files *.yaml at any depth;
	// nil for an operator of built-in kinds. What else the files hold is left out.
	CRDs fs.FS
	// Samples are YAML files with a sample of the kind that it works on. What else such a file holds is there as well.
	// Each is tried by itself; of several, the cases and laws are subtests of one that is named for the file.
	Samples []string
	// Files are YAML files with further objects that exist in every cluster.
	Files []string

	// Edits are merge patches of the sample to try, as YAML or JSON: {spec: {replicas: 3}}. Single fields are tried
	// without them.
	Edits []string
	// Invariants are what must hold in each world beside the laws, once it has settled or at writes of programs. Those of
	// one controller alone are declared in its Contract.
	Invariants []*law.Invariant
	// Settled is called whenever a world has settled. It only reads. An error fails the case.
	Settled func(user host.Client) error
	// Skip names cases and laws that are left out, with the reason, which is printed.
	Skip map[string]string
	// Accept are known findings. They are printed, and fail nothing.
	Accept []Accept

	// For is how long each world lasts, in its own time. 0 is until it settles: one of a controller that creates something
	// at every tick of a clock, as a Job each minute, ends after the third.
	For time.Duration
	// Profile is what it is held to; that of Controller where that is more.
	Profile law.Profile
	// Schedules is how many are drawn in each case; 0 means 60, and 15 with -short. The
	// flag -threelaws.schedules overrules it.
	Schedules int
	// Time is how long all cases may take together; 0 means a minute, or as long as Schedules take where that is set.
	// The flag -threelaws.time overrules it. The cases that it leaves out are named.
	Time time.Duration

	_ struct{}
}

// Accept is a known finding: a law that is violated, with Case and Object where it is known there alone.
type Accept struct {
	Law, Case, Object, Reason string
}

func (a Accept) known() check.Accept {
	return check.Accept{Law: a.Law, Case: a.Case, Object: a.Object, Reason: a.Reason}
}
