package law

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// forgetting drops facts about unused UIDs, if the judge's memory is limited ([Judge].Memory). A UID is in use if it is
// the UID of a stored, cached or reconciled object, or of its owner. A round takes place every Memory records. A UID
// that is unused in two successive rounds loses its facts, because no new object gets an old UID.
type forgetting struct {
	next          int                // index of the record at which facts are dropped next
	named, doomed map[types.UID]bool // UIDs in use in this round; UIDs that were not in use in the previous round
	unnamed       map[types.UID]bool // UIDs that have facts, but are not in use in this round
}

type forgetter interface {
	forget(gone func(types.UID) bool)
}

// forget drops facts about unused UIDs, if Memory is set and the next round is due.
func (j *Judge) forget(record int) {
	o := &j.forgetting
	if j.Memory == 0 || record < o.next {
		return
	}
	o.next = record + j.Memory
	o.named, o.unnamed = map[types.UID]bool{}, map[types.UID]bool{}
	j.state.name(func(uid types.UID) { o.named[uid] = true })
	j.state.forget(o.gone, record, j.Memory, j.now)
	for i := range j.checks {
		if f, ok := j.checks[i].check.(forgetter); ok {
			f.forget(o.gone)
		}
	}
	o.named, o.doomed, o.unnamed = nil, o.unnamed, nil
}

// gone reports whether facts about a UID are dropped: it was unused in this round and in the previous one.
func (o *forgetting) gone(uid types.UID) bool {
	if o.named[uid] {
		return false
	}
	o.unnamed[uid] = true
	return o.doomed[uid]
}

// name calls f with the UIDs of all objects that are stored, cached or being reconciled, and of their owners.
func (s *State) name(f func(types.UID)) {
	object := func(value any) {
		m := meta.Of(value)
		f(m.GetUID())
		for _, ref := range m.GetOwnerReferences() {
			f(ref.UID)
		}
	}
	for o := range s.each {
		object(o.Value)
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
	s.orphanings.forget(gone)
	s.missingNamed.forget(gone)
	maps.DeleteFunc(s.everOwned.had, func(uid types.UID, _ int) bool { return gone(uid) })
	maps.DeleteFunc(s.uncertainCounts, func(uid types.UID, _ bool) bool { return gone(uid) })
	s.recentlyDeleted.forget(now)
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

func (p *orphanings) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(p.byObject, func(object types.UID, list []orphaning) bool { //detcheck:ordered each list is cut by itself
		list = slices.DeleteFunc(list, func(q orphaning) bool { return gone(q.owner) })
		p.byObject[object] = list
		return len(list) == 0
	})
}

func (t *missingNamed) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(t.names, func(p place, _ bool) bool { return gone(p.owner) })
	maps.DeleteFunc(t.count, func(owner types.UID, n int) bool { return n == 0 || gone(owner) })
}

func (l *recentlyDeleted) forget(now time.Duration) {
	maps.DeleteFunc(l.gone, func(_ coords, p deletion) bool { return now-p.at >= l.long })
}

func (l *losers) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(l.lost, func(r race, _ bool) bool { return gone(r.object) || gone(r.owner) })
}

func (c *once) forget(gone func(types.UID) bool) {
	maps.DeleteFunc(c.ever, func(t tally, _ map[types.UID]bool) bool { return gone(t.owner) })
	maps.DeleteFunc(c.more, func(t tally, _ int) bool { return gone(t.owner) })
}

// forget drops the handovers of earlier epochs, because they no longer count.
func (h *handovers) forget(func(types.UID) bool) {
	maps.DeleteFunc(h.seen, func(_ types.UID, n handover) bool { return n.epoch != h.j.state.epoch })
}
