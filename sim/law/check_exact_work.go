// Checks of EXACT-1 and EXACT-2.

package law

import (
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"strconv"
)

// neverTooFew checks EXACT-1. It is Informed by the owner as the actor read it and the dependents as it was shown
// them, if too few are stored as well. It is Committed by what is stored. Inactive dependents may be deleted, and a
// terminating owner wants none.
func neverTooFew(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if sub == nil || sub.Replicas == nil || !w.Dependent || !w.Mine || !w.Deletes || !sub.counts(r.Before, w.Before) {
		return
	}
	j.Ask()
	away := j.state.missingNamed.of(uidOf(r.For))
	if k := w.counting(r); k != nil && !meta.Deleting(meta.Of(r.SawFor)) && w.askedFor(k, r, r.Before, true) {
		floor := sub.floor(r.SawFor) - away
		w.process.owners(k, func(owner any) { floor = min(floor, sub.floor(owner)-away) })
		victim := w.process.known.ByUID[w.Before.GetUID()]
		if victim != nil && victim.Active && k.most()-1 < floor {
			if left := j.state.activeUpTo(sub, k.owner, floor+1) - 1; left < floor {
				j.Report(Informed, "leaves "+r.For.String()+" with "+strconv.Itoa(left)+", it wants "+strconv.Itoa(floor))
				return
			}
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) || sub.Wanted != nil && !sub.Wanted(objectOf(o.Value), objectOf(r.Before)) {
		return
	}
	floor := sub.floor(o.Value) - away
	if left := j.state.activeUpTo(sub, uidOf(r.For), floor+1) - 1; left < floor {
		j.Report(Committed, "leaves "+r.For.String()+" with "+strconv.Itoa(left)+", it wants "+strconv.Itoa(floor))
	}
}

// neverTooMany checks EXACT-2. ADOPT-3 covers a creation for a terminating owner. A creation that replaces what
// others deleted is not one too many.
func neverTooMany(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if sub == nil || sub.Replicas == nil && sub.MaxActive == nil || !w.Dependent || w.Before != nil ||
		!sub.counts(r.After, w.After) {
		return
	}
	if sub.Opaque {
		j.tooManyOfItsOwn(r)
		return
	}
	if !w.isFor(w.NewOwner) {
		return
	}
	if sub.Replicas == nil {
		j.neverTooManyAtOnce(r)
		return
	}
	j.Ask()
	if sub.Wanted != nil {
		j.neverUnasked(r)
		return
	}
	if j.state.missingNamed.restores(uidOf(r.For), r) {
		return
	}
	if k := w.counting(r); k != nil {
		roof := sub.roof(r.SawFor)
		w.process.owners(k, func(owner any) { roof = max(roof, sub.roof(owner)) })
		if roof >= 0 && k.fewest()+1 > roof {
			if n := j.state.activeUpTo(sub, k.owner, -1) + 1; n > roof {
				j.Report(Informed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(roof))
				return
			}
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) {
		return
	}
	roof := sub.roof(o.Value)
	if roof < 0 || len(j.state.Dependents(uidOf(r.For))) < roof {
		return
	}
	if n := j.state.activeUpTo(sub, uidOf(r.For), -1) + 1; n > roof {
		j.Report(Committed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(roof))
	}
}

// neverTooManyAtOnce checks EXACT-2 for an owner with MaxActive and without Replicas. It is Informed by what the
// caches showed when the sync began, and what the actor has created in this sync. It need not remember creations of
// earlier syncs, because it creates rarely.
func (j *Judge) neverTooManyAtOnce(r *sim.Record) {
	w := &j.write
	sub := w.Actor
	if k := w.counting(r); k != nil && sub.MaxActive(objectOf(r.SawFor)) >= 0 {
		j.Ask()
		most := sub.MaxActive(objectOf(r.SawFor))
		w.process.owners(k, func(owner any) { most = max(most, sub.MaxActive(objectOf(owner))) })
		if n := j.state.activeUpTo(sub, k.owner, -1) + 1; k.shown+k.own-k.missed >= most && n > most {
			j.Report(Informed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+
				strconv.Itoa(most)+" at one time")
			return
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || meta.Deleting(o.Meta) || sub.MaxActive(objectOf(o.Value)) < 0 {
		return
	}
	j.Ask()
	if n := j.state.activeUpTo(sub, uidOf(r.For), -1) + 1; n > sub.MaxActive(objectOf(o.Value)) {
		j.Report(Committed, "brings "+r.For.String()+" to "+strconv.Itoa(n)+", it wants "+strconv.Itoa(sub.MaxActive(objectOf(o.Value)))+
			" at one time")
	}
}
