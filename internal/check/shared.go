package check

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim"
)

// shares finds objects with plain references that all owners have together: beside a second owner the controller creates
// no more of their kind than for the sample alone. No owner can control them, so no law asks for a ControllerRef.
func (f *found) shares(s *subject) error {
	if len(f.plain) == 0 {
		return nil
	}
	r, err := s.run(s.owner, s.owner.renamed(s.owner.GetName()+"-second"))
	if err != nil {
		return s.over() // the server refuses a second owner
	}
	defer r.Stop()
	for i := range f.creates {
		c := &f.creates[i]
		all := ofKind(f.plain, c.kind)
		if c.how != refers || !r.settled || len(r.uncontrolled(c.kind)) > len(all) {
			continue
		}
		c.how, f.shared = sharing, append(f.shared, all...)
		if !slices.Contains(f.creates, creation{c.kind, controls}) && !slices.Contains(f.creates, creation{c.kind, none}) {
			f.owns = slices.DeleteFunc(f.owns, func(gvk schema.GroupVersionKind) bool { return gvk == c.kind })
		}
	}
	return nil
}

func ofKind(all []sim.Ref, kind schema.GroupVersionKind) (list []sim.Ref) {
	for _, o := range all {
		if o.Kind == kind.Kind && !slices.Contains(list, o) {
			list = append(list, o)
		}
	}
	return list
}

// uncontrolled are the objects of a kind that the controller has created without a ControllerRef.
func (r *quiet) uncontrolled(kind schema.GroupVersionKind) (list []sim.Ref) {
	for _, rec := range r.writes() {
		if m, is := rec.After.(metav1.Object); is && rec.Before == nil && r.kindOf(rec) == kind && metav1.GetControllerOf(m) == nil {
			list = append(list, rec.Object)
		}
	}
	return list
}
