// Package conformance checks a controller against the laws of ownership with one call in go test. It needs a sample
// object of the kind that the controller reconciles. It first runs the controller without faults and delays (quiet
// runs), and observes what the controller creates, adopts and releases, and which fields it reacts to. From these
// observations it derives the cases.
//
//	func TestOwnership(t *testing.T) {
//		conformance.Test(t, conformance.Subject{
//			Controller: widget,
//			CRDs:       os.DirFS("config/crd/bases"),
//			Samples:    []string{"config/samples/widget.yaml"},
//		})
//	}
//
// Begin with [Subject] and [Test]. [Fuzz] and [Property] draw the same cases with Go's fuzzer and with rapid.
//
// Each case is a [simtest.Case], explored under many schedules and with faults. Each law has a verdict: held, violated,
// not exercised, not judged (with a text that says what to declare), or does not apply. A controller that does nothing
// for the sample fails.
//
// Import it in tests only, like simtest. docs/use/conformance-test.md lists the cases, and shows a failure.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Subject describes an operator with its CRDs and samples. Fields that also exist in the Subject of package agent have
// the same names there. Paths are relative to the package of the test.
type Subject struct {
	// Controller is a reconciler that threelaws runs request by request. Name, For, Routes and New suffice. Other facts
	// for the laws, such as Owns, Selector, Replicas and Finalizers, are found in quiet runs unless they are declared.
	Controller host.Controller
	// Run is a whole, unmodified program (package bubble). It may be a manager, an operator's main, or any function
	// that takes a configuration and serves until ctx is done. Set either Run or Controller.New. With Run, Controller
	// may have a Contract, and a kind For that is not the kind of the sample.
	Run func(ctx context.Context, config *rest.Config) error
	// Others are further reconcilers of the operator. They run too, and each is judged by its own declarations.
	Others []host.Controller
	// With names controllers of this module that run too, for example "replicaset" or "deployment". The garbage
	// collector always runs. If the operator creates Jobs, for example, the Job controller runs too.
	With []string

	// CRDs contains the CustomResourceDefinitions in files *.yaml, *.yml and *.json, also in subdirectories. It is nil
	// for built-in kinds. Other objects in the files are ignored.
	CRDs fs.FS
	// Samples are YAML files. Each contains a sample of the kind that the controller reconciles, and may contain other
	// objects, which exist too. Each file is tested separately. If there are several files, the cases and laws of each
	// are subtests of a test with the file's name.
	Samples []string
	// Files are YAML files with other objects that exist in every world.
	Files []string

	// Edits are merge patches of the sample, as YAML or JSON: {spec: {replicas: 3}}. The test tries them in addition to
	// changes of single fields.
	Edits []string
	// Invariants must hold in each world in addition to the laws: either whenever the world has settled, or at writes
	// of programs. An invariant of only one controller belongs in the controller's Contract.
	Invariants []*law.Invariant
	// Settled is called at the end of each run whose world has settled. It must not write. If it returns an error, the
	// case fails.
	Settled func(user host.Client) error
	// Strict adds the law others-marks-stay: a label or annotation that a user adds to a dependent stays. The law is
	// optional, because many controllers own all metadata of their dependents.
	Strict bool
	// Skip maps the name of a case or law that is left out to the reason. The reasons are printed.
	Skip map[string]string
	// Accept lists known violations. They are printed, but do not fail the test.
	Accept []Accept

	// For is the virtual time that each world runs; 0 means until the world settles. If a controller creates objects
	// periodically, 0 means until it has done this three times.
	For time.Duration
	// Profile is the set of laws that apply. A larger profile in Controller.Contract has precedence.
	Profile law.Profile
	// Schedules is the number of schedules of each case; 0 means 60, or 15 with -short. The flag -threelaws.schedules
	// overrides Schedules.
	Schedules int
	// Time limits the real time for all cases together. 0 means one minute, or no limit if Schedules is set. The flag
	// -threelaws.time overrides Time. If the time does not suffice, the cases that were not run are listed.
	Time time.Duration

	_ struct{}
}

// Accept is a known violation of a law. If Case or Object is set, Accept matches only violations in that case, or of
// that object. Reason is printed.
type Accept struct {
	Law, Case, Object, Reason string
}

func (a Accept) known() check.Accept {
	return check.Accept{Law: a.Law, Case: a.Case, Object: a.Object, Reason: a.Reason}
}

// prepare reads the files of a subject, and derives the cases for one sample. An error describes a mistake in one line.
func (s *Subject) prepare(path string) (*check.Plan, error) {
	c := s.Controller
	switch {
	case s.Run != nil && c.New != nil:
		return nil, errors.New("conformance.Subject: Run and Controller exclude each other")
	case s.Run != nil:
		c.Name = cmp.Or(c.Name, "program")
		c = bubble.Controller(c, s.Run)
	case c.New == nil && c.Name == "":
		return nil, errors.New("conformance.Subject: there is nothing to try: give a program as Run, or a stepped " +
			"reconciler as Controller")
	}
	c = bubble.Timed(c)
	crds, err := s.readCRDs()
	if err != nil {
		return nil, fmt.Errorf("conformance.Subject: CRDs: %w", err)
	}
	sample, err := s.readSample(path)
	if err != nil {
		return nil, err
	}
	files, err := s.readFiles()
	if err != nil {
		return nil, err
	}
	for i, a := range s.Accept {
		known := a.known()
		if err := known.Check(s.own()...); err != nil {
			return nil, fmt.Errorf("conformance.Subject: Accept[%d]: %w", i, err)
		}
	}
	plan, err := check.Prepare(context.Background(), check.Operator{Controller: c, Others: s.Others, CRDs: crds,
		Installed: files, Sample: sample, With: s.With, Edits: s.Edits, Settled: s.Settled, Skip: s.Skip, For: s.For, Invariants: s.Invariants,
		Profile: s.Profile, Strict: s.Strict, Schedules: s.Schedules})
	if m := (*check.Mistake)(nil); errors.As(err, &m) {
		return nil, fmt.Errorf("conformance.Subject: %w", err)
	}
	return plan, err
}

func (s *Subject) own() (ids []string) {
	for _, v := range append(slices.Clone(s.Invariants), s.Controller.Contract.Invariants...) {
		if v != nil {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

func (s *Subject) readCRDs() (files []*check.File, err error) {
	if s.CRDs == nil {
		return nil, nil
	}
	some := false
	err = fs.WalkDir(s.CRDs, ".", func(name string, d fs.DirEntry, err error) error {
		if ext := path.Ext(name); err != nil || d.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return err
		}
		data, err := fs.ReadFile(s.CRDs, name)
		if err != nil {
			return err
		}
		f, err := check.Read(name, data)
		if err != nil {
			return err
		}
		for _, o := range f.Objects {
			some = some || o.GetKind() == "CustomResourceDefinition"
		}
		files = append(files, f)
		return nil
	})
	if err == nil && !some {
		err = errors.New("no file *.yaml of it holds a CustomResourceDefinition")
	}
	return files, err
}

func (s *Subject) readSample(path string) (*check.File, error) {
	if path == "" {
		return nil, errors.New("conformance.Subject: Samples is empty: name a YAML file with a sample " +
			cmp.Or(s.Controller.For.Kind, "of the kind that it works on"))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, absent("Samples", path)
	}
	return check.Read(path, data)
}

func (s *Subject) readFiles() (objects []*unstructured.Unstructured, err error) {
	for _, path := range s.Files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, absent("Files", path)
		}
		f, err := check.Read(path, data)
		if err != nil {
			return nil, err
		}
		for _, o := range f.Objects {
			objects = append(objects, o.Unstructured)
		}
	}
	return objects, nil
}

func absent(field, path string) error {
	at, _ := os.Getwd()
	return fmt.Errorf("conformance.Subject: %s: %s is not there: paths are relative to the package's directory, %s", field,
		path, filepath.Base(at))
}
