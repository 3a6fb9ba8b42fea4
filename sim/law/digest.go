package law

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// digest hashes what the state holds in addition to the world's own state. All numbers of fast retries above hotLoop
// count as equal. So do all times of more than one second since a failure.
func (s *State) digest(h *sim.Hash, hotLoop int, now time.Duration) {
	h.Bool(s.restarted)
	h.Bool(s.dropping)
	h.Word(s.orphanings.digest())
	h.Word(s.missingNamed.digest())
	h.Word(s.everOwned.digest() + s.uncertainCounts.digest() + digestNames(s.others))
	h.Word(s.recentlyDeleted.digest(now) + s.forbidden.digest() + sim.Mix(s.spared.digest()))
	var kinds, bare uint64
	for _, l := range s.kinds {
		kinds += sim.Mix(sim.HashString(l.kind))
		for _, o := range l.objects {
			if o.bare.owner != "" {
				bare += digestPair(o.Meta.GetUID(), o.bare.owner, uint64(o.bare.spec))
			}
		}
	}
	h.Word(kinds)
	h.Word(bare)
	for _, p := range s.processes {
		h.Word(s.digestProcess(p, hotLoop, now))
		h.Word(s.digestKnown(&p.Actor, &p.known))
	}
}

func digestNames(names map[string]bool) (sum uint64) {
	for n := range names { //detcheck:ordered a sum
		sum += sim.Mix(uint64(sim.HashString(n)))
	}
	return sum
}

func (p *orphanings) digest() uint64 {
	var sum uint64
	for object, list := range p.byObject { //detcheck:ordered a sum
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

func (p *orphanings) since(record int) uint64 {
	var sum uint64
	for object, list := range p.byObject { //detcheck:ordered a sum
		for i := range list {
			if list[i].record > record {
				sum += digestPair(object, list[i].owner, 0)
			}
		}
	}
	return sum
}

func (t *missingNamed) digest() uint64 {
	var sum uint64
	for p := range t.names { //detcheck:ordered a sum
		var h sim.Hash
		h.Word(digestUID(p.owner))
		h.String(p.kind)
		h.String(p.name.Namespace)
		h.String(p.name.Name)
		sum += sim.Mix(uint64(h))
	}
	return sum
}

// digestKnown hashes what a process knows in addition to its caches. These are versions known only from answers, old
// versions for current reconciles, and newer versions that earlier incarnations received.
func (s *State) digestKnown(sub *Actor, n *view.Known) uint64 {
	var sum uint64
	for uid, e := range n.ByUID { //detcheck:ordered a sum
		var h sim.Hash
		h.Word(digestUID(uid))
		h.Word(digestUID(e.Owner))
		h.Bool(e.Active)
		h.Bool(e.Ahead)
		h.Bool(e.Removed)
		h.Bool(e.Value == nil)
		sum += sim.Mix(uint64(h))
	}
	for i := range n.Journal.Entries {
		g := &n.Journal.Entries[i]
		var held sim.Hash
		if sub.Identity != nil && sub.manages(g.Kind) && g.Value != nil {
			held.String(sub.Identity(objectOf(g.Value)))
		}
		sum += digestPair(g.UID, g.Owner, uint64(held))
	}
	for uid, version := range n.Past { //detcheck:ordered a sum
		if o := s.byUID[uid]; o != nil {
			sum += digestPair(uid, "past", meta.Version(o.Meta)-version)
		}
	}
	return sum
}

func (s *State) digestProcess(p *process, hotLoop int, now time.Duration) uint64 {
	sum := digestQueue(&p.queue, hotLoop, now) + digestTries(p.tried, now)
	if p.early >= 0 {
		sum++
	}
	sum += p.createdUnseen.digest()
	for uid := range p.gone { //detcheck:ordered a sum
		sum += sim.Mix(digestUID(uid))
	}
	for uid, c := range p.cut { //detcheck:ordered a sum
		for _, owner := range c.owners {
			sum += digestPair(uid, owner, 2)
		}
	}
	for n := range p.met { //detcheck:ordered a sum
		var h sim.Hash
		h.String(n.Namespace)
		h.String(n.Name)
		sum += uint64(h)
	}
	for n := range p.looked { //detcheck:ordered a sum
		var h sim.Hash
		h.String(n.Name)
		h.String(n.Namespace)
		sum += sim.Mix(uint64(h))
	}
	for _, c := range p.caches {
		if c.Live {
			sum += uint64(sim.HashString(c.Kind))
		}
	}
	sum += digestNames(p.puts)
	sum = sum*31 + digestNames(p.includes)
	for g := range p.gave { //detcheck:ordered a sum
		sum += digestPair(g.object, g.owner, 1)
	}
	for c, l := range p.lookups { //detcheck:ordered a sum
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
		h.Word(uint64(w.shown))
		h.Word(uint64(w.counted))
		h.String(w.release)
		h.Word(uint64(w.began + w.more - w.own)) // summarizes the counts of fewest and most
		h.Word(uint64(w.fewer))
		h.Bool(w.listed)
		if p.Actor.bounds() || p.Actor.RetryOf != nil {
			h.Word(uint64(now - w.at))
		}
		for _, uid := range w.used {
			h.Word(digestUID(uid))
		}
		h.Bool(p.Actor.looks() && w.begun > p.news)
		h.Word(p.newsSince(w.begun))
		h.Word(s.orphanings.since(w.begun))
		sum += uint64(h)
	}
	return sum
}

// newsSince hashes what a garbage collector has received since a record. It returns 0 for other processes.
func (p *process) newsSince(record int) uint64 {
	var sum uint64
	if p.Actor.Controller != collector {
		return 0
	}
	for _, c := range p.caches {
		for i := range c.Entries {
			e := &c.Entries[i]
			if e.Since > record {
				more := uint64(1)
				if e.Born > record {
					more++
				}
				sum += digestPair(e.Meta.GetUID(), types.UID(c.Kind), more)
			}
		}
	}
	return sum
}

// digestQueue hashes what WRITE-1 and WRITE-8 remember about keys. All numbers of fast retries above bound count as
// equal.
func digestQueue(queue *view.Queue, bound int, now time.Duration) uint64 {
	var sum uint64
	for i := range queue.Keys {
		q := &queue.Keys[i]
		if q.Running == 0 && !q.Dirty && !q.Failed && q.Hot == 0 {
			continue
		}
		var h sim.Hash
		h.String(q.Namespace)
		h.String(q.Name)
		h.Word(uint64(q.Running))
		h.Bool(q.Dirty)
		h.Word(uint64(min(q.Hot, bound+1)))
		h.Bool(q.Again)
		if h.Bool(q.Failed); q.Failed {
			h.Word(uint64(min(now-q.Ended, view.Brief)))
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
