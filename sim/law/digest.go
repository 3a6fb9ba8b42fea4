package law

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Digest folds what the judge remembers beyond what the world's own state
// tells: what was promised to whom, who lost which race, what the collector was
// told and has read. An exhaustive search then merges two histories only where
// the laws have the same future too. Left out is what merely decides under
// which law's name a breach is reported (whether a process was off or met
// reordering), and how close a key is to WRITE-8's bound on hot loops.
func (j *Judge) Digest(h *sim.Hash) {
	h.Word(j.state.promises.digest())
	h.Word(j.state.taken.digest())
	for _, p := range j.state.processes {
		h.Word(p.digest())
		h.Word(p.known.digest(&j.state))
	}
	for i := range j.seats {
		if d, ok := j.seats[i].check.(sim.Digester); ok {
			d.Digest(h)
		}
	}
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

func (p *Process) digest() uint64 {
	var sum uint64
	for uid := range p.gone {
		sum += sim.Mix(digestUID(uid))
	}
	for n := range p.met {
		var h sim.Hash
		h.String(n.namespace)
		h.String(n.name)
		sum += sim.Mix(uint64(h))
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
		if w.owner == "" {
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
		sum += uint64(h)
	}
	return sum
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
			sum += digestPair(uid, "", uint64(n.count))
		}
	}
	h.Word(sum)
}
