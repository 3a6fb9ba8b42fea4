package law

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

func (p *promises) digest() uint64 {
	var sum uint64
	for object, list := range p.byObject {
		for i := range list {
			more := uint64(list[i].strength)
			if list[i].lost {
				more += 2
			}
			if list[i].again {
				more += 4
			}
			sum += digestPair(object, list[i].owner, more)
		}
	}
	return sum
}

func (p *promises) madeSince(record int) uint64 {
	var sum uint64
	for object, list := range p.byObject {
		for i := range list {
			if list[i].made > record {
				sum += digestPair(object, list[i].owner, 0)
			}
		}
	}
	return sum
}

func (t *taken) digest() uint64 {
	var sum uint64
	for p := range t.names {
		var h sim.Hash
		h.Word(digestUID(p.owner))
		h.String(p.kind)
		h.String(p.name.namespace)
		h.String(p.name.name)
		sum += sim.Mix(uint64(h))
	}
	return sum
}

// digest folds what the world's own state does not tell of a process's
// knowledge: what it knows from answers alone, what it has been shown during the
// syncs at work, and which objects earlier lives were shown in newer versions.
func (n *known) digest(s *State) uint64 {
	var sum uint64
	for uid, e := range n.byUID {
		var h sim.Hash
		h.Word(digestUID(uid))
		h.Word(digestUID(e.owner))
		h.Bool(e.active)
		h.Bool(e.ahead)
		h.Bool(e.removed)
		h.Bool(e.value == nil)
		sum += sim.Mix(uint64(h))
	}
	for i := range n.journal {
		sum += digestPair(n.journal[i].uid, n.journal[i].owner, 0)
	}
	for uid, version := range n.past {
		if o := s.byUID[uid]; o != nil {
			sum += digestPair(uid, "past", versionOf(o.Meta)-version)
		}
	}
	return sum
}

func (p *Process) digest(j *Judge) uint64 {
	sum := p.keys.digest(j.Bounds.HotLoop, j.now)
	if p.early >= 0 {
		sum++
	}
	for uid := range p.gone {
		sum += sim.Mix(digestUID(uid))
	}
	for n := range p.met {
		var h sim.Hash
		h.String(n.namespace)
		h.String(n.name)
		sum += uint64(h)
	}
	for f := range p.puts {
		var h sim.Hash
		h.String(f)
		sum += sim.Mix(uint64(h))
	}
	for g := range p.gave {
		sum += digestPair(g.object, g.owner, 1)
	}
	for c, l := range p.lookups {
		var h sim.Hash
		h.String(c.kind)
		h.String(c.namespace)
		h.String(c.name)
		h.Word(digestUID(l.uid))
		h.Bool(l.waiting)
		sum += uint64(h)
	}
	for i := range p.workers {
		w := &p.workers[i]
		if w.owner == "" && w.begun == 0 {
			continue
		}
		var h sim.Hash
		h.Word(uint64(i))
		h.Word(digestUID(w.owner))
		h.Bool(w.read)
		h.Bool(w.refuses)
		h.Word(digestUID(w.live))
		h.Bool(w.refused)
		h.Word(uint64(w.counted))
		h.String(w.release)
		h.Word(uint64(w.began + w.more - w.own)) // what fewest and most go by
		h.Word(uint64(w.fewer))
		h.Bool(w.listed)
		h.Word(p.newsSince(w.begun))
		h.Word(j.state.promises.madeSince(w.begun))
		sum += uint64(h)
	}
	return sum
}

// newsSince digests what a process was shown since a record, where the laws on
// collectors ask for it.
func (p *Process) newsSince(record int) uint64 {
	var sum uint64
	if p.Subject.Controller != Collector {
		return 0
	}
	for _, c := range p.caches {
		for i := range c.entries {
			e := &c.entries[i]
			if e.since > record {
				more := uint64(1)
				if e.born > record {
					more++
				}
				sum += digestPair(e.Meta.GetUID(), types.UID(c.kind), more)
			}
		}
	}
	return sum
}

// digest digests what WRITE-1 and WRITE-8 know of keys, a count of hot retries
// up to the bound.
func (k *keys) digest(bound int, now time.Duration) uint64 {
	var sum uint64
	for i := range k.list {
		q := &k.list[i]
		if q.running == 0 && !q.dirty && !q.failed && q.hot == 0 {
			continue
		}
		var h sim.Hash
		h.String(q.namespace)
		h.String(q.name)
		h.Word(uint64(q.running))
		h.Bool(q.dirty)
		h.Word(uint64(min(q.hot, bound+1)))
		if h.Bool(q.failed); q.failed {
			h.Bool(q.ended == now)
		}
		sum += sim.Mix(uint64(h))
	}
	return sum
}

func digestUID(uid types.UID) uint64 { return sim.HashString(string(uid)) }

func digestPair(a, b types.UID, more uint64) uint64 {
	var h sim.Hash
	h.Word(digestUID(a))
	h.Word(digestUID(b))
	h.Word(more)
	return uint64(h)
}
