package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// oneForEach is EXACT-3: a write by which a dependent comes to hold an identity
// that another one of the same owner holds. Informed where the actor had been
// shown that other one before the sync began, or had made it itself.
func oneForEach(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Subject
	if sub == nil || sub.Identity == nil || !w.Dependent || !w.isFor(w.NewOwner) {
		return
	}
	id := sub.holds(r.After, w.After)
	if id == "" || w.Mine && sub.holds(r.Before, w.Before) == id {
		return
	}
	j.ask()
	for _, o := range j.state.Dependents(w.NewOwner.UID) {
		if o.Meta.GetUID() == w.After.GetUID() || !j.state.isActiveOf(sub, w.NewOwner.UID, o) || sub.Identity(o.Value) != id {
			continue
		}
		s := Committed
		if w.knewHolder(r, o, id) {
			s = Informed
		}
		j.Report(s, "is "+id+" of "+r.For.String()+", as "+o.Ref.String()+" is")
		return
	}
}

// holds is the identity of an object that is there and counts.
func (s *Subject) holds(value any, m metav1.Object) string {
	if m == nil || !s.counts(value, m) {
		return ""
	}
	return s.Identity(value)
}

// knewHolder reports whether the actor knew that an object holds an identity:
// from before the sync, or by an answer to a request of its own.
func (w *Write) knewHolder(r *sim.Record, o *Object, id string) bool {
	e := w.Process.known.byUID[o.Meta.GetUID()]
	k := w.Process.work(r)
	if e == nil || k == nil || !e.active || e.owner != k.owner {
		return false
	}
	return e.since < k.begun && w.Subject.Identity(e.value) == id || e.ahead
}
