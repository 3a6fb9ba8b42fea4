package check

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// holds records the finalizers that a write of the controller adds.
func (f *found) holds(rec *sim.Record, after metav1.Object) {
	for _, name := range after.GetFinalizers() {
		if b, ok := rec.Before.(metav1.Object); ok && slices.Contains(b.GetFinalizers(), name) ||
			strings.HasPrefix(name, "kubernetes.io/") { // the server adds kubernetes.io/pvc-protection at creation
			continue
		}
		f.finalizers = appendOnce(f.finalizers, name)
	}
}

// inherited finds finalizers in the sample's manifest that the controller removes, such as finalizers of an earlier
// version. The test adds another program's finalizer. If the controller removes this one too, nothing is found.
func (f *found) inherited(s *operator) error {
	listed := s.owner.GetFinalizers()
	if len(listed) == 0 {
		return nil
	}
	owner := manifest{s.owner.DeepCopy()}
	owner.SetFinalizers(append([]string{hold}, listed...))
	r, err := s.run(owner)
	if err != nil {
		return err
	}
	defer r.Stop()
	now := r.shown(owner).GetFinalizers()
	if !slices.Contains(now, hold) {
		return nil // the controller removes any finalizer
	}
	for _, name := range listed {
		if !slices.Contains(now, name) {
			f.finalizers = appendOnce(f.finalizers, name)
		}
	}
	return nil
}

// handed finds finalizers that one controller of the program adds and another one removes. It records them as
// finalizers of the controller that removes them.
func (f *found) handed(s *operator, r *quiet) {
	ours := func(process string) bool {
		return process == r.process || slices.ContainsFunc(s.Others, named(process))
	}
	put := map[string]string{} // finalizer -> the process that added it
	for i := range r.World.History.Len() {
		rec := r.World.History.At(i)
		if rec.Op != sim.Commit || !ours(rec.Process) {
			continue
		}
		before, after := finalizersOf(rec.Before), finalizersOf(rec.After)
		for _, name := range after {
			if !slices.Contains(before, name) {
				put[name] = rec.Process
			}
		}
		for _, name := range before {
			if by := put[name]; by == "" || by == rec.Process || slices.Contains(after, name) {
				continue
			}
			if rec.Process == r.process {
				f.finalizers = appendOnce(f.finalizers, name)
				continue
			}
			s.Others = slices.Clone(s.Others)
			c := &s.Others[slices.IndexFunc(s.Others, named(rec.Process))].Contract
			c.Finalizers = appendOnce(slices.Clone(c.Finalizers), name)
		}
	}
}

// retries is the number of equal errors after which a program counts as failing for ever.
const retries = 3

// fails records that the program cannot remove its finalizer from the deleted sample, because it fails as it has failed
// before the deletion. Its environment is incomplete, for example without a Secret, so the finalizer is not judged.
func (f *found) fails(s *operator, r *quiet) {
	last, times := render.LastError(r.printed())
	if s.complaint != "" && times >= retries && f.stuck == "" && len(finalizersOf(r.stored(s.owner))) > 0 {
		f.stuck = last
	}
}

func named(process string) func(host.Controller) bool {
	return func(c host.Controller) bool { return c.Name == process }
}

func finalizersOf(o any) []string {
	if m, is := o.(metav1.Object); is {
		return m.GetFinalizers()
	}
	return nil
}
