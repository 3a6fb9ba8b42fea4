package law

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Digest folds what the judge remembers beyond what the world's own state
// tells: what was promised to whom, who lost which race, what the collector was
// told and has read. An exhaustive search then merges two histories only where
// the laws have the same future too. Left out is what merely decides under
// which law's name a breach of NOFIGHT-3 is reported as well: whether a process
// was off, met reordering or had others change what it manages.
func (j *Judge) Digest(h *sim.Hash) {
	s := &j.state
	h.Bool(s.restarted)
	h.Bool(s.dropping)
	h.Word(s.promises.digest())
	h.Word(s.taken.digest())
	var kinds uint64
	for _, l := range s.kinds {
		kinds += sim.Mix(sim.HashString(l.kind))
	}
	h.Word(kinds)
	for _, p := range s.processes {
		h.Word(p.digest(j))
		h.Word(p.known.digest(s))
	}
	for i := range j.seats {
		if d, ok := j.seats[i].check.(sim.Digester); ok {
			d.Digest(h)
		}
	}
}

// Undigested names the first law whose check may remember something and is no
// [sim.Digester], "" when there is none.
func (j *Judge) Undigested() string {
	for i := range j.seats {
		switch j.seats[i].check.(type) {
		case *pure, sim.Digester:
		default:
			return "the check of law " + j.seats[i].law.Name
		}
	}
	return ""
}

func digestUID(uid types.UID) uint64 { return sim.HashString(string(uid)) }

func digestPair(a, b types.UID, more uint64) uint64 {
	var h sim.Hash
	h.Word(digestUID(a))
	h.Word(digestUID(b))
	h.Word(more)
	return uint64(h)
}

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

// Digest folds who was refused a write before its caches had synced.
func (c *waitForCaches) Digest(h *sim.Hash) {
	var sum uint64
	for process := range c.refused {
		sum += sim.Mix(sim.HashString(process))
	}
	h.Word(sum)
}

// Digest folds who lost which race.
func (l *losers) Digest(h *sim.Hash) {
	var sum uint64
	for r := range l.lost {
		sum += digestPair(r.object, r.owner, 0)
	}
	h.Word(sum)
}

// Digest folds how often each object has changed hands.
func (c *handovers) Digest(h *sim.Hash) {
	var sum uint64
	for uid, n := range c.seen {
		if n.epoch == c.j.state.epoch {
			behind := uint64(0)
			if n.behind {
				behind = 1
			}
			sum += digestPair(uid, "", uint64(n.count)<<1|behind)
		}
	}
	h.Word(sum)
}
