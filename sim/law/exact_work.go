package law

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// fewest is how many active dependents its owner has at the least, by anything
// the worker can have gone by in this sync: it may have looked at each of them at
// another moment, and always knows what it did itself and what it found gone.
func (k *work) fewest() int { return k.began - k.fewer + k.own - k.missed }

// most is how many it has at the most.
func (k *work) most() int { return k.began + k.more + k.own }

// owners calls f with every version of its owner that the process knew of while
// the worker was at it: what a live read answered counts, though newer ones or
// the end of the owner have been delivered since.
func (p *Process) owners(k *work, f func(owner any)) {
	if e := p.known.byUID[k.owner]; e != nil && e.value != nil {
		f(e.value)
	}
	for i := range p.known.journal {
		if g := &p.known.journal[i]; g.uid == k.owner && g.record > k.begun && g.value != nil {
			f(g.value)
		}
	}
}

// counting returns the worker that a write for an owner is by, nil when what it
// can have gone by is not known, as of a life that has ended.
func (w *Write) counting(r *sim.Record) *work {
	k := w.Process.work(r)
	if k == nil || !k.busy || k.owner == "" || string(k.owner) != r.For.UID || r.SawFor == nil {
		return nil
	}
	return k
}

// neverTooFew is EXACT-1. Informed goes by the owner as the actor had seen it and
// the dependents as it had been shown them, and the shortfall must be there;
// Committed by what is stored. Dependents that do not count any more are deleted
// freely, and an owner that is going wants none.
func neverTooFew(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Subject
	if sub == nil || sub.Replicas == nil || !w.Dependent || !w.Mine || !w.Deletes || !sub.counts(r.Before, w.Before) {
		return
	}
	j.ask()
	away := j.state.taken.from(uidOf(r.For))
	if k := w.counting(r); k != nil && !deleting(meta(r.SawFor)) {
		floor := sub.floor(r.SawFor) - away
		w.Process.owners(k, func(owner any) { floor = min(floor, sub.floor(owner)-away) })
		victim := w.Process.known.byUID[w.Before.GetUID()]
		if victim != nil && victim.active && k.most()-1 < floor {
			if left := j.state.activeUpTo(sub, k.owner, floor+1) - 1; left < floor {
				j.Report(Informed, "leaves "+r.For.String()+" with "+itoa(left)+", it wants "+itoa(floor))
				return
			}
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || deleting(o.Meta) {
		return
	}
	floor := sub.floor(o.Value) - away
	if left := j.state.activeUpTo(sub, uidOf(r.For), floor+1) - 1; left < floor {
		j.Report(Committed, "leaves "+r.For.String()+" with "+itoa(left)+", it wants "+itoa(floor))
	}
}

// neverTooMany is EXACT-2. A creation for an owner that is going is ADOPT-3's, and
// one that puts back what others took is none too many.
func neverTooMany(j *Judge, r *sim.Record) {
	w := &j.write
	sub := w.Subject
	if sub == nil || sub.Replicas == nil || !w.Dependent || w.Before != nil || !w.isFor(w.NewOwner) || !sub.counts(r.After, w.After) {
		return
	}
	j.ask()
	if j.state.taken.back(uidOf(r.For), r) {
		return
	}
	if k := w.counting(r); k != nil {
		roof := sub.roof(r.SawFor)
		w.Process.owners(k, func(owner any) { roof = max(roof, sub.roof(owner)) })
		if k.fewest()+1 > roof {
			if n := j.state.activeUpTo(sub, k.owner, -1) + 1; n > roof {
				j.Report(Informed, "brings "+r.For.String()+" to "+itoa(n)+", it wants "+itoa(roof))
				return
			}
		}
	}
	o := j.state.Object(uidOf(r.For))
	if o == nil || deleting(o.Meta) {
		return
	}
	roof := sub.roof(o.Value)
	if len(j.state.Dependents(uidOf(r.For))) < roof {
		return
	}
	if n := j.state.activeUpTo(sub, uidOf(r.For), -1) + 1; n > roof {
		j.Report(Committed, "brings "+r.For.String()+" to "+itoa(n)+", it wants "+itoa(roof))
	}
}

// floor is how many active dependents an owner may not have less than.
func (s *Subject) floor(owner any) int {
	n := s.Replicas(owner)
	if s.Unavailable != nil {
		n -= s.Unavailable(owner)
	}
	return n
}

// roof is how many it may not have more than.
func (s *Subject) roof(owner any) int {
	n := s.Replicas(owner)
	if s.Surge != nil {
		n += s.Surge(owner)
	}
	return n
}

// activeUpTo counts the stored active dependents that an owner controls. It need
// not go on once there are so many; -1 counts them all.
func (s *State) activeUpTo(sub *Subject, owner types.UID, enough int) int {
	n := 0
	for _, o := range s.Dependents(owner) {
		if n == enough {
			break
		}
		if s.isActiveOf(sub, owner, o) {
			n++
		}
	}
	return n
}

// isActiveOf reports whether an object is an active dependent that an owner controls.
func (s *State) isActiveOf(sub *Subject, owner types.UID, o *Object) bool {
	ref := controllerOf(o.Meta)
	return ref != nil && ref.UID == owner && sub.manages(o.Ref.Kind) && sub.active(o)
}
