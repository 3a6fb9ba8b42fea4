package law

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// oblivion is what a judge forgets that remembers only so much ([Judge].Memory): what it
// knows of uids that nothing names, neither now nor when it last forgot. Named are the
// objects that are stored or that a process's cache shows, their owners, and what workers
// are at. A uid is not used twice, so no write to come is to what has gone; what a request
// under way may still name has been forgotten by nobody for so many records.
type oblivion struct {
	next          int // the record with which it forgets again
	named, doomed map[types.UID]bool
	unnamed       map[types.UID]bool // that it has met this time
}

// forgetter is a check that remembers something of uids.
type forgetter interface {
	forget(gone func(types.UID) bool)
}

// forget drops what can make no difference any more, where the judge is to.
func (j *Judge) forget(record int) {
	o := &j.oblivion
	if j.Memory == 0 || record < o.next {
		return
	}
	o.next = record + j.Memory
	o.named, o.unnamed = map[types.UID]bool{}, map[types.UID]bool{}
	j.state.name(func(uid types.UID) { o.named[uid] = true })
	j.state.forget(o.gone, record, j.Memory, j.now)
	for i := range j.seats {
		if f, ok := j.seats[i].check.(forgetter); ok {
			f.forget(o.gone)
		}
	}
	o.named, o.doomed, o.unnamed = nil, o.unnamed, nil
}

// gone reports whether a uid is to be forgotten.
func (o *oblivion) gone(uid types.UID) bool {
	if o.named[uid] {
		return false
	}
	o.unnamed[uid] = true
	return o.doomed[uid]
}

// name calls f with every uid that is of anything there, or that anything there names.
func (s *State) name(f func(types.UID)) {
	object := func(value any) {
		m := meta.Of(value)
		f(m.GetUID())
		for _, ref := range m.GetOwnerReferences() {
			f(ref.UID)
		}
	}
	for _, l := range s.kinds {
		for _, o := range l.objects {
			object(o.Value)
		}
	}
	for _, p := range s.processes {
		for _, c := range p.caches {
			for i := range c.Entries {
				object(c.Entries[i].Value)
			}
		}
		for _, list := range [][]work{p.workers, p.former} {
			for i := range list {
				f(list[i].owner)
				f(list[i].live)
			}
		}
	}
}

func (s *State) forget(gone func(types.UID) bool, record, memory int, now time.Duration) {
	clear(s.selectors)
	s.stored.spare, s.stored.spareDs = nil, nil
	s.promises.forget(gone)
	s.taken.forget(gone)
	maps.DeleteFunc(s.ever.had, func(uid types.UID, _ int) bool { return gone(uid) })
	maps.DeleteFunc(s.vague, func(uid types.UID, _ bool) bool { return gone(uid) })
	s.lately.forget(now)
	for _, p := range s.processes {
		p.forget(s, gone, record, memory)
	}
}

func (p *process) forget(s *State, gone func(types.UID) bool, record, memory int) {
	known := len(p.gone) + len(p.lookups)
	maps.DeleteFunc(p.gone, func(uid types.UID, _ bool) bool { return gone(uid) })
	maps.DeleteFunc(p.lookups, func(_ coords, l lookup) bool { return l.record < record-memory })
	p.forgot = p.forgot || len(p.gone)+len(p.lookups) < known
	maps.DeleteFunc(p.gave, func(r race, _ bool) bool { return gone(r.object) || gone(r.owner) })
	maps.DeleteFunc(p.known.Past, func(uid types.UID, _ uint64) bool { return gone(uid) })
	for _, e := range p.known.Lost(gone) {
		p.removed(e.UID, record)
	}
	p.known.Tidy()
	p.queue.Tidy()
	shown := p.Cache(p.Actor.For.Kind)
	maps.DeleteFunc(p.met, func(k view.Key, _ bool) bool {
		return shown.Get(k.Namespace, k.Name) == nil && s.Named(p.Actor.For.Kind, k.Namespace, k.Name) == nil &&
			p.queue.Find(k) == nil && !slices.ContainsFunc(p.workers, func(w work) bool { return w.key == k })
	})
}

func (p *promises) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(p.byObject, func(object types.UID, list []promise) bool { //detcheck:ordered each list is cut by itself
		list = slices.DeleteFunc(list, func(q promise) bool { return gone(q.owner) })
		p.byObject[object] = list
		return len(list) == 0
	})
}

func (t *taken) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(t.names, func(p place, _ bool) bool { return gone(p.owner) })
	maps.DeleteFunc(t.count, func(owner types.UID, n int) bool { return n == 0 || gone(owner) })
}

func (l *lately) forget(now time.Duration) {
	maps.DeleteFunc(l.gone, func(_ coords, p parting) bool { return now-p.at >= l.long })
}

func (l *losers) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(l.lost, func(r race, _ bool) bool { return gone(r.object) || gone(r.owner) })
}

func (c *once) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(c.ever, func(t tally, _ map[types.UID]bool) bool { return gone(t.owner) })
	maps.DeleteFunc(c.more, func(t tally, _ int) bool { return gone(t.owner) })
}

// What an object has seen counts within an epoch only.
func (h *handovers) forget(func(types.UID) bool) {
	maps.DeleteFunc(h.seen, func(_ types.UID, n handover) bool { return n.epoch != h.j.state.epoch })
}
