// What a process learns about an object from deliveries and answers, and how this changes the counts of its workers.

package law

import (
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// shown updates p.known with the object of a delivery.
func (p *process) shown(r *sim.Record) {
	before, after := meta.Of(r.Before), meta.Of(r.After)
	if before != nil && (after == nil || after.GetUID() != before.GetUID()) {
		p.removed(before.GetUID(), r.Index)
	}
	if after != nil {
		if e := p.known.ByUID[after.GetUID()]; e != nil && e.Ahead {
			p.note(r.Index, e)
		}
		e := p.learn(r.Object.Kind, r.After, after, r.Index, nil)
		if e.Cached = r.After; e.Meta == after {
			p.known.Confirm(e)
		}
	}
}

// told updates p.known with the answer to a request of the process. A lost answer has no effect.
func (p *process) told(r *sim.Record) {
	if r.Lost || r.Incarnation != p.incarnation || !p.follows(r.Object.Kind) {
		return
	}
	k, n := p.work(r), &p.known
	var e *view.Sight
	if before := meta.Of(r.Before); before != nil && strings.HasPrefix(r.Verb, "delete") {
		if e = n.ByUID[before.GetUID()]; e != nil {
			e.Removed = true
		}
	}
	if after := meta.Of(r.After); after != nil {
		e = p.learn(r.Object.Kind, r.After, after, r.Index, k)
	} else if before := meta.Of(r.Before); before != nil {
		if e = n.ByUID[before.GetUID()]; e != nil {
			p.set(e, nil, nil, r.Index, k) // stays in known, because an older event may still arrive
		}
	}
	if e != nil && p.makes(r) {
		e.Made = r.Index
	}
	if e != nil && k != nil && k.owner != "" && e.Owner == k.owner && !e.Active && p.tookFor(r, e) {
		k.more++
	}
	if e != nil && !e.Ahead {
		e.Ahead = true
		n.Ahead = append(n.Ahead, e)
	}
}

// makes reports whether a write creates or deletes an object, or changes its body. Without AtWrite invariants it is
// false.
func (p *process) makes(r *sim.Record) bool {
	return p.Actor.bounds() && r.Op == sim.Commit && (r.Before == nil || r.After == nil ||
		meta.Deleting(meta.Of(r.After)) || !meta.SameBody(r.Before, r.After))
}

// gap forgets the objects of a kind that are known only from answers. It is called when the kind was listed again: if
// the list lacks such an object, no event will report its deletion. The journal keeps the object for current
// reconciles.
func (p *process) gap(kind string, record int) {
	n := &p.known
	p.createdUnseen.gap(p, kind)
	for i := len(n.Ahead) - 1; i >= 0; i-- {
		if e := n.Ahead[i]; e.Kind == kind && e.Cached == nil {
			p.set(e, nil, nil, record, nil)
			delete(n.ByUID, e.UID)
			n.Confirm(e)
			p.Cache(kind).Changed = record
		}
	}
}

// learn adds a version of an object to known, unless a newer one is known. The parameter by is the worker that
// received the version as the answer to a request; nil for an event.
func (p *process) learn(kind string, value any, m metav1.Object, record int, by *work) *view.Sight {
	n, uid, version := &p.known, m.GetUID(), meta.Version(m)
	e := n.ByUID[uid]
	switch {
	case e == nil:
		e = n.Fresh()
		e.Kind, e.UID = kind, uid
		n.ByUID[uid] = e
	case e.Version > version && version != 0:
		return e
	}
	if len(n.Past) > 0 && n.Past[uid] <= version {
		delete(n.Past, uid)
	}
	p.set(e, value, m, record, by)
	e.Version = version
	p.raise(kind, uid, value)
	return e
}

// raise updates p.roofs with a version of an owner that a program received. p.roofs holds the largest number of
// dependents that any received version wants, because it is unknown which version the program uses.
func (p *process) raise(kind string, uid types.UID, value any) {
	sub := &p.Actor
	if !sub.Opaque || kind != sub.For.Kind || sub.Replicas == nil && sub.MaxActive == nil {
		return
	}
	if p.roofs == nil {
		p.roofs = map[types.UID]int{}
	}
	if is, was := sub.mostAtOnce(value), p.roofs[uid]; is < 0 || was < 0 {
		p.roofs[uid] = -1
	} else {
		p.roofs[uid] = max(is, was)
	}
}

func (p *process) removed(uid types.UID, record int) {
	if e := p.known.ByUID[uid]; e != nil {
		p.set(e, nil, nil, record, nil)
		delete(p.known.ByUID, uid)
		delete(p.known.Past, uid)
		p.known.Confirm(e)
		*e = view.Sight{} // clear the values, because the block of memory stays in use
	}
}

// set changes what is known about an object, and adjusts the counts of the workers that reconcile its owner.
func (p *process) set(e *view.Sight, value any, m metav1.Object, record int, by *work) {
	n := &p.known
	p.note(record, e)
	owner, active := types.UID(""), false
	if m != nil && p.manages(e.Kind) {
		if ref := meta.ControllerOf(m); ref != nil {
			owner = ref.UID
		}
		active = p.Actor.counts(value, m) || by != nil && p.countsStill(e, m)
	}
	if owner != e.Owner || active != e.Active {
		n.Leave(e)
		p.moved(e.Owner, e.Active, -1, by)
		e.Since = record
		e.Owner, e.Active = owner, active
		n.Join(e)
		p.moved(owner, active, 1, by)
	}
	e.Value, e.Meta = value, m
}

// moved adjusts the counts of workers after a dependent was added to an owner (the parameter by is 1) or removed (-1).
// It ignores inactive dependents. doer is the worker whose request changed the dependent; nil for an event.
func (p *process) moved(owner types.UID, active bool, by int, doer *work) {
	if owner == "" || !active {
		return
	}
	for i := range p.workers {
		k := &p.workers[i]
		switch {
		case k.owner != owner:
		case k == doer:
			k.own += by
		case by > 0:
			k.more++
		default:
			k.fewer++
		}
	}
}

// note adds what was known about an object until now to the journal, if any worker is in a reconcile.
func (p *process) note(record int, e *view.Sight) {
	if !p.atWork() || e == nil {
		return
	}
	if p.known.Journal.Long() {
		p.known.Journal.Cut(p.oldestSync())
	}
	p.known.Journal.Note(e, record)
}

// oldestSync returns the index of the record at which the oldest current reconcile began. Reconciles of the previous
// incarnation count too, because their last requests may still arrive.
func (p *process) oldestSync() int {
	oldest := math.MaxInt
	for _, list := range [][]work{p.workers, p.former} {
		for i := range list {
			if list[i].busy {
				oldest = min(oldest, list[i].begun)
			}
		}
	}
	return oldest
}

// atWork reports whether any worker is in a reconcile. If not, it clears the journal.
func (p *process) atWork() bool {
	for i := range p.workers {
		if p.workers[i].busy {
			return true
		}
	}
	p.known.Journal.Clear()
	return false
}

// mayHaveSeen updates p.roofs after a write to an object that an Outside program reconciles. The program may have read
// the object before or after the write. A deleted object is forgotten.
func (p *process) mayHaveSeen(w *Write, r *sim.Record) {
	switch {
	case w.After == nil:
		delete(p.roofs, w.Before.GetUID())
		return
	case w.Before != nil:
		p.raise(r.Object.Kind, w.Before.GetUID(), r.Before)
	}
	p.raise(r.Object.Kind, w.After.GetUID(), r.After)
}
