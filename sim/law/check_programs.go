// EXACT-2 of a whole program, of which nobody knows when it looked.

package law

import (
	"github.com/threelaws/threelaws/sim"
	"strconv"
)

// tooManyOfItsOwn reports a dependent that a program makes though it had been answered,
// before it asked, that as many of its own making are there as the owner ever asked for, as
// far as it may know. What others made it may have been shown too late, and what it adopted
// it may take for released: neither is counted.
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
		return // as many as it likes
	}
	roof = max(roof, once)
	own, asked := 0, r.Asked
	if sub.Outside {
		asked = r.Index // its requests are executed as they come
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
