package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Process is what the records say of a subject's process: what it has been
// shown and what it is doing.
type Process struct {
	Subject Subject

	incarnation int
	down        bool
	stopped     bool     // for good: nobody expects it to act
	held        []string // kinds of which the view is held back; "" for all
	caches      []*Cache
	workers     []work
	former      []work // of the incarnation before: its last requests may still land
	keys        keys

	synced  bool // every informer of this incarnation had its initial list
	early   int  // index of its first write before that; -1 for none
	version uint64
	kind    string // of the delivery with that version

	reordered bool // kinds reached it in another order than they changed in
	wasOff    bool // it was down, blind or late for a while
	disturbed bool // others changed what it manages

	gone    map[types.UID]bool // collector: owners it was told are gone
	lookups map[coords]lookup  // collector: what its last live read of a name found

	met   map[nsName]bool // names of what it syncs, that it was ever shown
	puts  map[string]bool // finalizers that it was seen to put on objects
	gave  map[race]bool   // references to others that it put on objects
	known known           // of what it syncs and manages
}

// lookup is what a live read found: the uid, "" for nothing, and whether it was
// waiting for its dependents.
type lookup struct {
	uid     types.UID
	waiting bool
}

type nsName struct{ namespace, name string }

func (s *State) addSubject(sub Subject) {
	if p := s.byProcess[sub.Process]; p != nil {
		p.Subject = sub
		return
	}
	p := &Process{Subject: sub, early: -1, known: newKnown(), met: map[nsName]bool{}}
	p.keys.at = map[nsName]int{}
	if sub.Controller == Collector {
		p.gone, p.lookups = map[types.UID]bool{}, map[coords]lookup{}
	}
	s.processes = append(s.processes, p)
	s.byProcess[sub.Process] = p
}

// Incarnation is how many times the process has been restarted.
func (p *Process) Incarnation() int { return p.incarnation }

// Cache is the process's view of a kind.
func (p *Process) Cache(kind string) *Cache {
	for _, c := range p.caches {
		if c.kind == kind {
			return c
		}
	}
	c := &Cache{kind: kind, at: map[nsName]int{}}
	p.caches = append(p.caches, c)
	return c
}

// manages reports whether objects of a kind are dependents of the subject's.
func (p *Process) manages(kind string) bool { return p.Subject.manages(kind) }

func (s *Subject) manages(kind string) bool {
	return s.Kind != "" && slices.Contains(s.Dependents, kind)
}

// restart forgets what a process loses in a crash.
func (p *Process) restart(incarnation int) {
	p.incarnation = incarnation
	p.known.crash()
	p.former, p.workers = p.workers, p.former[:0]
	for _, c := range p.caches {
		c.clear()
	}
	p.keys.clear()
	p.synced, p.early, p.version, p.kind = false, -1, 0, ""
	clear(p.gone)
	clear(p.lookups)
}

func (p *Process) forgetRun() {
	p.down, p.stopped, p.held, p.former = false, false, p.held[:0], p.former[:0]
	p.reordered, p.wasOff, p.disturbed = false, false, false
	p.known.clear()
	clear(p.known.past)
	clear(p.gave)
	clear(p.met)
	clear(p.puts)
}

// work returns what the worker that a record is about is at; nil when that is
// no longer known.
func (p *Process) work(r *sim.Record) *work {
	list := &p.workers
	if r.Incarnation == p.incarnation-1 {
		list = &p.former
	} else if r.Incarnation != p.incarnation {
		return nil
	}
	n := max(r.Worker, 0)
	if list == &p.former && n >= len(*list) {
		return nil
	}
	for n >= len(*list) {
		*list = append(*list, work{})
	}
	return &(*list)[n]
}

func (p *Process) foldFault(r *sim.Record) {
	switch r.Verb {
	case "crash":
		p.down, p.wasOff = true, true
		p.restart(max(p.incarnation+1, r.Incarnation))
	case "stop":
		p.stopped = true
		p.restart(max(p.incarnation+1, r.Incarnation))
	case "restart", "switch": // either comes up with views of its own, none of them held
		p.down, p.stopped, p.wasOff = false, false, true
		p.held = p.held[:0]
		if r.Incarnation > p.incarnation {
			p.restart(r.Incarnation)
		}
	case "hold":
		p.wasOff = true
		if !slices.Contains(p.held, r.Object.Kind) {
			p.held = append(p.held, r.Object.Kind)
		}
	case "release":
		p.held = slices.DeleteFunc(p.held, func(k string) bool { return r.Object.Kind == "" || k == r.Object.Kind })
	case "relist":
		p.wasOff = true
		p.gap(r.Object.Kind)
	case "synced":
		p.synced = true
	}
}

func (p *Process) fold(s *State, r *sim.Record) {
	if r.Incarnation > p.incarnation {
		p.restart(r.Incarnation)
	}
	switch r.Op {
	case sim.Delivery:
		p.deliver(r)
	case sim.SyncStart:
		p.start(r)
	case sim.SyncEnd:
		if k := p.work(r); k != nil {
			k.owner, k.busy, k.begun = "", false, 0
		}
		if p.Subject.Kind != "" && r.Incarnation == p.incarnation {
			p.keys.end(r)
		}
	case sim.Read, sim.Refusal:
		p.answered(s, r)
	}
}

func (p *Process) deliver(r *sim.Record) {
	if r.Version < p.version && r.Object.Kind != p.kind {
		p.reordered = true
	}
	if r.Version >= p.version {
		p.version, p.kind = r.Version, r.Object.Kind
	}
	c := p.Cache(r.Object.Kind)
	before, after := c.fold(r, r.Object.Kind == p.Subject.Kind)
	if p.Subject.Counted != nil && p.manages(r.Object.Kind) {
		p.recount(c, controllerOf(before), controllerOf(after))
	}
	if p.follows(r.Object.Kind) {
		p.shown(r)
	}
	if r.Object.Kind == p.Subject.Kind && before == nil {
		p.meet(nsName{r.Object.Namespace, r.Object.Name})
	}
	// Another uid under the same name says as much as a deletion: a relist may
	// have swallowed that.
	if m := meta(r.Before); p.gone != nil && m != nil && (after == nil || after.GetUID() != m.GetUID()) {
		p.gone[m.GetUID()] = true
	}
	if p.Subject.Kind != "" {
		for _, key := range r.Enqueued {
			p.keys.enqueue(key)
		}
	}
}

func (p *Process) meet(name nsName) {
	if p.met == nil {
		p.met = map[nsName]bool{}
	}
	p.met[name] = true
}

// recount keeps how many cached objects each owner has, and lets the workers
// know of one more.
func (p *Process) recount(c *Cache, old, now *metav1.OwnerReference) {
	if sameRef(old, now) {
		return
	}
	if c.owned == nil {
		c.owned = map[types.UID]int{}
	}
	if old != nil {
		if c.owned[old.UID]--; c.owned[old.UID] <= 0 {
			delete(c.owned, old.UID)
		}
	}
	if now != nil {
		c.owned[now.UID]++
		for i := range p.workers {
			if p.workers[i].owner == now.UID {
				p.workers[i].counted++
			}
		}
	}
}
