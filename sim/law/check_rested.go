// ADOPT-3 and ADOPT-8 of a whole program, of which nobody knows whom a sync is for, nor when it
// looked: what it does after a rest it does knowing what there was then.

package law

import (
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// rested reports whether the process that a write is by was at rest in the life that it is in.
func (w *Write) rested(r *sim.Record) bool {
	return w.process.rested && r.Incarnation == w.process.incarnation
}

// forTheGoing reports a dependent that a program makes, or adopts, for an owner that a rest had
// shown it to be going.
func (j *Judge) forTheGoing(r *sim.Record) {
	w := &j.write
	if !w.rested(r) || w.NewOwner == nil || w.NewOwner.Kind != w.Actor.For.Kind || w.Before != nil && !w.Claims {
		return
	}
	j.Ask()
	if o := j.state.Object(w.NewOwner.UID); o != nil && meta.Deleting(o.Meta) && !j.state.parted[w.NewOwner.UID] {
		did := "made"
		if w.Before != nil {
			did = "adopted"
		}
		j.Report(Informed, did+" for "+o.Ref.String()+", which was going when all was quiet before")
	}
}

// ofTheGone reports a program's write to what an owner controls that was gone when it was last
// at rest, while it has been shown another of that owner's name. To take its own finalizers off
// is owed to anybody. What it can have read before somebody brought that back is a race.
func (j *Judge) ofTheGone(r *sim.Record) {
	w := &j.write
	if !w.rested(r) || !w.Dependent || w.Before == nil || w.Owner == nil || w.unhands(r) {
		return
	}
	j.Ask()
	next := w.process.Cache(w.Owner.Kind).Get(w.Before.GetNamespace(), w.Owner.Name)
	if next == nil {
		next = w.process.Cache(w.Owner.Kind).Get("", w.Owner.Name)
	}
	if next == nil || j.state.Object(w.Owner.UID) != nil || j.state.parted[w.Owner.UID] {
		return
	}
	s := Committed
	if w.SawOwner != nil && w.SawOwner.UID == w.Owner.UID {
		s = Informed
	}
	j.Report(s, what(r)+" of what belongs to an earlier "+refName(w.Owner)+", which was gone when all was quiet before")
}
