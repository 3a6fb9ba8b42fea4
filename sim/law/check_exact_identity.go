// Check of EXACT-3: two dependents with one identity.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// oneForEach checks EXACT-3: by a write a dependent takes an identity that another one of the same owner has. It is
// Informed if the actor had been shown the other one before the sync began, or had created it. An adoption is not a
// violation, because a matching orphan must be adopted first (ADOPT-2). One of the two must be gone once settled.
func oneForEach(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.identitiesAtRest()
		return
	}
	w := &j.write
	sub := w.Actor
	if sub == nil || sub.Identity == nil || !w.Dependent || !w.isFor(w.NewOwner) {
		return
	}
	id := sub.holds(r.After, w.After)
	if id == "" || w.Adopts || w.Mine && sub.holds(r.Before, w.Before) == id {
		return
	}
	if j.state.twins(sub, w.NewOwner.UID, r.After, r.After) {
		return // an object does not conflict with itself
	}
	j.Ask()
	for _, o := range j.state.Dependents(w.NewOwner.UID) {
		if o.Meta.GetUID() == w.After.GetUID() || !j.state.isActiveOf(sub, w.NewOwner.UID, o) ||
			sub.Identity(objectOf(o.Value)) != id || j.state.twins(sub, w.NewOwner.UID, r.After, o.Value) {
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

// identitiesAtRest checks EXACT-3 for adopted dependents. A controller without Replicas may keep what it adopts, as
// a Deployment keeps an older ReplicaSet.
func (j *Judge) identitiesAtRest() {
	for i := range j.survey().owners {
		o := &j.settledCounts.owners[i]
		if o.sub.Identity == nil || o.want < 0 || o.sub.leaves(o.Value) || !j.settled(o) {
			continue
		}
		uid, held := o.Meta.GetUID(), map[string]*Object{}
		for _, d := range j.state.Dependents(uid) {
			if !j.state.isActiveOf(o.sub, uid, d) {
				continue
			}
			id := o.sub.Identity(objectOf(d.Value))
			if id == "" || j.state.twins(o.sub, uid, d.Value, d.Value) {
				continue
			}
			j.Ask()
			if other := held[id]; other == nil {
				held[id] = d
			} else if !j.state.twins(o.sub, uid, d.Value, other.Value) {
				j.Report(Informed, d.Ref.String()+" stays "+id+" of "+o.Ref.String()+", as "+other.Ref.String()+" does")
				break
			}
		}
	}
}

// twins reports whether an owner may have two dependents with one identity.
func (s *State) twins(sub *Actor, owner types.UID, a, b any) bool {
	o := s.Object(owner)
	return sub.AllowDuplicate != nil && o != nil && sub.AllowDuplicate(objectOf(o.Value), objectOf(a), objectOf(b))
}

// holds returns the identity of an active object.
func (s *Actor) holds(value any, m metav1.Object) string {
	if m == nil || !s.counts(value, m) {
		return ""
	}
	return s.Identity(objectOf(value))
}

// knewHolder reports whether the actor knew that an object has the identity: since before the sync, or from an
// answer to its own request.
func (w *Write) knewHolder(r *sim.Record, o *Object, id string) bool {
	e := w.process.known.ByUID[o.Meta.GetUID()]
	k := w.process.work(r)
	if e == nil || k == nil || !e.Active || e.Owner != k.owner {
		return false
	}
	return e.Since < k.begun && w.Actor.Identity(objectOf(w.process.known.ValueAt(e.UID, k.begun))) == id || e.Ahead
}
