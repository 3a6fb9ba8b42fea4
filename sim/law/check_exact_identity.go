// The check of EXACT-3: two of one identity.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// oneForEach is EXACT-3: a write by which a dependent comes to hold an identity
// that another one of the same owner holds. Informed where the actor had been
// shown that other one before the sync began, or had made it itself. An adoption is
// none: an orphan that matches has to be adopted (ADOPT-2), and can only go after
// that. It has gone once all is quiet.
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
		return // nothing is said of an identity that an object shares with itself
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

// identitiesAtRest is EXACT-3 of those that were adopted. Who does not say how many there are
// to be may keep what it adopts, as a Deployment an older ReplicaSet.
func (j *Judge) identitiesAtRest() {
	for i := range j.survey().owners {
		o := &j.census.owners[i]
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

// twins reports whether an owner may have two dependents of one identity.
func (s *State) twins(sub *Actor, owner types.UID, a, b any) bool {
	o := s.Object(owner)
	return sub.AllowDuplicate != nil && o != nil && sub.AllowDuplicate(objectOf(o.Value), objectOf(a), objectOf(b))
}

// holds is the identity of an object that is there and counts.
func (s *Actor) holds(value any, m metav1.Object) string {
	if m == nil || !s.counts(value, m) {
		return ""
	}
	return s.Identity(objectOf(value))
}

// knewHolder reports whether the actor knew that an object holds an identity:
// from before the sync, in which it need not look twice, or by an answer to a request of its own.
func (w *Write) knewHolder(r *sim.Record, o *Object, id string) bool {
	e := w.process.known.ByUID[o.Meta.GetUID()]
	k := w.process.work(r)
	if e == nil || k == nil || !e.Active || e.Owner != k.owner {
		return false
	}
	return e.Since < k.begun && w.Actor.Identity(objectOf(w.process.known.ValueAt(e.UID, k.begun))) == id || e.Ahead
}
