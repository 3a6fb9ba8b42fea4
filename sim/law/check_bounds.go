// The check of EXACT-11: a rollout stays within its bounds.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// withinBounds is EXACT-11: a write to one dependent oversteps what its owner allows of all
// of them together. Informed where it does so by what the actor knows as well: by every
// version of the owner that it may go by, and by the other dependents as it knew them
// when the sync began, or has made them itself since.
func withinBounds(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Subject
	if sub == nil || sub.Oversteps == nil || !w.Dependent || r.SawFor == nil || w.Before != nil && !w.Mine ||
		!w.Deletes && !w.isFor(w.NewOwner) || meta.Deleting(w.Before) || r.Subresource == "status" {
		return
	}
	owner := j.state.Object(uidOf(r.For))
	if owner == nil || meta.Deleting(owner.Meta) {
		return
	}
	j.Ask()
	var others []any
	for _, o := range j.state.Dependents(uidOf(r.For)) {
		if o.Meta.GetUID() != w.uid() && controlledIn(o.Meta, owner.Meta) && sub.manages(o.Ref.Kind) {
			others = append(others, o.Value)
		}
	}
	after := r.After
	if w.Deletes {
		after = nil
	}
	what := sub.Oversteps(owner.Value, others, r.Before, after)
	if what == "" {
		return
	}
	s := Committed
	if w.knewBounds(r, after) {
		s = Informed
	}
	j.Report(s, what)
}

// controlledIn reports whether an object is controlled by that owner.
func controlledIn(m, owner metav1.Object) bool {
	ref := meta.ControllerOf(m)
	return ref != nil && ref.UID == owner.GetUID()
}

// uid is that of the object that is written.
func (w *Write) uid() types.UID {
	if w.After != nil {
		return w.After.GetUID()
	}
	return w.Before.GetUID()
}

// knewBounds reports whether a write oversteps by what the actor knows. What it was shown
// during the sync it need not have looked at.
func (w *Write) knewBounds(r *sim.Record, after any) bool {
	k := w.counting(r)
	if k == nil || k.listed || w.process.Cache(r.Object.Kind).Changed > k.begun {
		return false
	}
	before := r.Before
	if w.Saw != nil {
		before = r.Saw
	}
	var others []any
	for _, e := range w.process.known.Members(k.owner) {
		if e.UID != w.uid() && e.Value != nil {
			others = append(others, e.Value)
		}
	}
	over := w.Subject.Oversteps(r.SawFor, others, before, after) != ""
	w.process.owners(k, func(owner any) {
		over = over && w.Subject.Oversteps(owner, others, before, after) != ""
	})
	return over
}
