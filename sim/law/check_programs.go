// Checks of EXACT-2, ADOPT-3 and ADOPT-8 for whole programs. It is not known for which object a program's sync is, nor
// when the program read. After the world has settled, it knows what was there.

package law

import (
	"strconv"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// tooManyOfItsOwn reports a dependent that a program creates after answers had shown it as many of its own as the
// owner ever asked for. It does not count dependents that others created or that it adopted: the program may learn
// late of the former, and take the latter for released.
func (j *Judge) tooManyOfItsOwn(r *sim.Record) {
	w := &j.write
	sub, p := w.Actor, w.process
	if sub.Wanted != nil || w.NewOwner == nil || w.NewOwner.Kind != sub.For.Kind {
		return
	}
	owner := j.state.Object(w.NewOwner.UID)
	if owner == nil {
		return
	}
	j.Ask()
	roof, once := sub.mostAtOnce(owner.Value), p.roofs[w.NewOwner.UID]
	if roof < 0 || once < 0 {
		return // no limit
	}
	roof = max(roof, once)
	own, asked := 0, r.Asked
	if sub.Outside {
		asked = r.Index // its requests are executed at once
	}
	for _, e := range p.known.Members(w.NewOwner.UID) {
		o := j.state.Object(e.UID)
		if e.Active && e.Since <= asked && o != nil && o.maker == w.maker() &&
			j.state.isActiveOf(sub, w.NewOwner.UID, o) {
			own++
		}
	}
	if own < roof {
		return
	}
	n := j.state.activeUpTo(sub, w.NewOwner.UID, -1) + 1
	j.Report(Informed, "brings "+owner.Ref.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(roof)+
		", and was told that it has made "+strconv.Itoa(own))
}

// rested reports whether the world has settled in this life of the write's process.
func (w *Write) rested(r *sim.Record) bool {
	return w.process.rested && r.Incarnation == w.process.incarnation
}

// forTheGoing reports that a program creates or adopts a dependent for an owner that was terminating when the world
// last settled.
func (j *Judge) forTheGoing(r *sim.Record) {
	w := &j.write
	if !w.rested(r) || w.NewOwner == nil || w.NewOwner.Kind != w.Actor.For.Kind || w.Before != nil && !w.Claims {
		return
	}
	j.Ask()
	if o := j.state.Object(w.NewOwner.UID); o != nil && meta.Deleting(o.Meta) && !j.state.deletedSinceSettled[w.NewOwner.UID] {
		did := "made"
		if w.Before != nil {
			did = "adopted"
		}
		j.Report(Informed, did+" for "+o.Ref.String()+", which was going when all was quiet before")
	}
}

// ofTheGone reports a program's write to a dependent of an owner that was gone when the world last settled, though
// the program has been shown the recreated owner. It may always remove its own finalizers. It is a race if the
// dependent was recreated since.
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
	if next == nil || j.state.Object(w.Owner.UID) != nil || j.state.deletedSinceSettled[w.Owner.UID] {
		return
	}
	s := Committed
	if w.SawOwner != nil && w.SawOwner.UID == w.Owner.UID {
		s = Informed
	}
	j.Report(s, what(r)+" of what belongs to an earlier "+refName(w.Owner)+", which was gone when all was quiet before")
}
