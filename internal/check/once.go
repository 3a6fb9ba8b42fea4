package check

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
)

// noted is what it takes until a dependent that is deleted is created again.
type noted int

const (
	atOnce noted = iota
	touched
	restarted
	never
)

// deletedOnes looks of which kinds the controller creates a dependent again that is deleted. A request, a run, a backup
// or a migration is created once: with a record of it in the owner, it must not be created again.
func (f *found) deletedOnes(s *subject) error {
	if s.lasts > 0 {
		return nil // what it creates goes by the clock
	}
	all := slices.DeleteFunc(f.each(), func(d manifest) bool { return slices.Contains(f.asleep, d.GroupVersionKind()) })
	if when, err := f.recreates(s, all...); err != nil || when == atOnce {
		return err
	}
	for _, d := range all {
		when, err := f.recreates(s, d)
		if err != nil {
			return err
		}
		switch when {
		case touched:
			f.unnoticed = append(f.unnoticed, "a "+d.GetKind()+": it is created again after its owner was touched")
		case restarted:
			f.unnoticed = append(f.unnoticed, "a "+d.GetKind()+": it is created again after a restart")
		case never:
			f.once = append(f.once, d.GroupVersionKind())
		}
	}
	return nil
}

// recreates deletes dependents of the settled sample. It reports when there are as many as before.
func (f *found) recreates(s *subject, deleted ...manifest) (noted, error) {
	if len(deleted) == 0 {
		return atOnce, nil
	}
	r, err := s.run(s.owner)
	if err != nil {
		return atOnce, err
	}
	defer r.Stop()
	count := func() (n int) {
		for _, d := range deleted {
			n += len(r.controlled(s.owner, []schema.GroupVersionKind{d.GroupVersionKind()}))
		}
		return n
	}
	before := count()
	for _, d := range deleted {
		req := &fakeapi.Request{Verb: fakeapi.Delete, Kind: r.Server.Kind(d.GroupVersionKind()), Namespace: d.GetNamespace(),
			Name: d.GetName()}
		if d.GetKind() == "Pod" {
			req.Delete.GracePeriodSeconds = new(int64)
		}
		if err := r.does(req); err != nil {
			return atOnce, nil // the user cannot delete it
		}
		if o := r.stored(d); o != nil && o.(metav1.Object).GetUID() == d.GetUID() {
			return atOnce, nil // a finalizer holds it
		}
	}
	for when, provoke := range []func() error{
		func() error { return nil },
		func() error {
			return r.merge(s.owner, map[string]any{"metadata": map[string]any{"annotations": map[string]any{other: "yes"}}})
		},
		func() error {
			r.of.Restart(0)
			r.settle()
			return nil
		},
	} {
		if err := provoke(); err != nil || !r.settled || r.stored(s.owner) == nil {
			return atOnce, nil // such a world says nothing
		}
		if count() >= before {
			return noted(when), nil
		}
	}
	return never, nil
}

// createsOnce reports whether a dependent of that kind that is deleted is not created again.
func (f *found) createsOnce(d manifest) bool { return slices.Contains(f.once, d.GroupVersionKind()) }
