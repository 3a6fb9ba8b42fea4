package law

import (
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// shown notes a delivery.
func (p *Process) shown(r *sim.Record) {
	before, after := meta(r.Before), meta(r.After)
	if before != nil && (after == nil || after.GetUID() != before.GetUID()) {
		p.removed(before.GetUID(), r.Index)
	}
	if after != nil {
		if e := p.known.byUID[after.GetUID()]; e != nil && e.ahead {
			p.note(r.Index, e)
		}
		e := p.learn(r.Object.Kind, r.After, after, r.Index, nil)
		if e.cached = r.After; e.meta == after {
			p.known.confirm(e)
		}
	}
}

// told notes what the answer to a request of its own tells a process, at the
// latest before its next request. An answer that was lost tells nothing.
func (p *Process) told(r *sim.Record) {
	if r.Lost || r.Incarnation != p.incarnation || !p.follows(r.Object.Kind) {
		return
	}
	k, n := p.work(r), &p.known
	var e *sight
	if before := meta(r.Before); before != nil && strings.HasPrefix(r.Verb, "delete") {
		if e = n.byUID[before.GetUID()]; e != nil {
			e.removed = true
		}
	}
	if after := meta(r.After); after != nil {
		e = p.learn(r.Object.Kind, r.After, after, r.Index, k)
	} else if before := meta(r.Before); before != nil {
		if e = n.byUID[before.GetUID()]; e != nil {
			p.set(e, nil, nil, r.Index, k) // kept: older news of it may be under way
		}
	}
	if e != nil && k != nil && e.owner == k.owner && !e.active && p.tookFor(r, e) {
		k.more++
	}
	if e != nil && !e.ahead {
		e.ahead = true
		n.ahead = append(n.ahead, e)
	}
}

// gap forgets what is known from answers alone of a kind that was listed anew:
// what the list does not hold is gone, and no event will say so.
func (p *Process) gap(kind string) {
	n := &p.known
	for i := len(n.ahead) - 1; i >= 0; i-- {
		if e := n.ahead[i]; e.kind == kind && e.cached == nil {
			p.set(e, nil, nil, 0, nil)
			delete(n.byUID, e.uid)
			n.confirm(e)
		}
	}
}

// learn takes in one version of an object, unless a newer one is known. By is
// the worker whose own doing it was, nil when the news came by itself.
func (p *Process) learn(kind string, value any, m metav1.Object, record int, by *work) *sight {
	n, uid, version := &p.known, m.GetUID(), versionOf(m)
	e := n.byUID[uid]
	switch {
	case e == nil:
		e = n.fresh()
		e.kind, e.uid = kind, uid
		n.byUID[uid] = e
	case e.version > version && version != 0:
		return e
	}
	if len(n.past) > 0 && n.past[uid] <= version {
		delete(n.past, uid)
	}
	p.set(e, value, m, record, by)
	e.version = version
	return e
}

// removed takes in that an object is gone for good.
func (p *Process) removed(uid types.UID, record int) {
	if e := p.known.byUID[uid]; e != nil {
		p.set(e, nil, nil, record, nil)
		delete(p.known.byUID, uid)
		delete(p.known.past, uid)
		p.known.confirm(e)
	}
}

// set changes what is known of an object, and tells the workers what that does
// to the count of their owners' dependents.
func (p *Process) set(e *sight, value any, m metav1.Object, record int, by *work) {
	n := &p.known
	p.note(record, e)
	owner, active := types.UID(""), false
	if m != nil && p.manages(e.kind) {
		if ref := controllerOf(m); ref != nil {
			owner = ref.UID
		}
		active = p.Subject.counts(value, m) || by != nil && p.countsStill(e, m)
	}
	if owner != e.owner || active != e.active {
		n.leave(e)
		p.moved(e.owner, e.active, -1, by)
		e.since = record
		e.owner, e.active = owner, active
		n.join(e)
		p.moved(owner, active, 1, by)
	}
	e.value, e.meta = value, m
}

// moved tells the workers at an owner of one dependent more or less that counts.
func (p *Process) moved(owner types.UID, active bool, by int, doer *work) {
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

// note keeps what was known of an object until now, while anybody is at work.
func (p *Process) note(record int, e *sight) {
	if !p.atWork() || e == nil {
		return
	}
	n := &p.known
	if len(n.journal) >= max(longJournal, 2*n.kept) {
		oldest := p.oldestSync()
		n.journal = slices.DeleteFunc(n.journal, func(g glimpse) bool { return g.record < oldest })
		n.kept = len(n.journal)
	}
	n.journal = append(n.journal, glimpse{e.kind, e.uid, e.owner, e.value, e.cached, e.version, record})
}

// oldestSync is the record at which the first of the syncs at work began, those
// included whose last requests may still land.
func (p *Process) oldestSync() int {
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

// atWork reports whether any worker is in a sync. When none is the journal, which
// is about what changes during one, begins anew.
func (p *Process) atWork() bool {
	for i := range p.workers {
		if p.workers[i].busy {
			return true
		}
	}
	clear(p.known.journal)
	p.known.journal, p.known.kept = p.known.journal[:0], 0
	return false
}
