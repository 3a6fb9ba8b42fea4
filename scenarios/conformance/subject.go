package conformance

import (
	"context"
	"io/fs"
	"time"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim/host"
)

// Subject is a controller to be held to the laws, and the little that must be known to
// begin: the definitions of its kinds and one object that it works on.
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

	// CRDs holds the CustomResourceDefinitions of its kinds, in files *.yaml at any depth;
	// nil for a controller of built-in kinds. What else the files hold is left out.
	CRDs fs.FS
	// Owner is a YAML file with a sample of the kind that it works on. What else the file
	// holds is there as well.
	Owner string

	// With names controllers of this module to run beside it ("replicaset", "deployment"). The garbage collector always
	// does, and so do those that finish what quiet runs show it to create, as the Job controller and a kubelet.
	With []string
	// For is how long each world lasts, in its own time. 0 is until it settles: one of a controller that creates something
	// at every tick of a clock, as a Job each minute, ends after the third.
	For time.Duration
	// Profile is what it is held to; that of Controller where that is more.
	Profile host.Profile
	// Schedules is how many are drawn in each case; 0 means 60, and 15 with -short. The
	// flag -threelaws.schedules overrules it.
	Schedules int

	_ struct{}
}
