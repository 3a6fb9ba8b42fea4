package law

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// process is what the records say of a subject's process: what it has been
// shown and what it is doing.
type process struct {
	Actor Actor

	incarnation int
	down        bool
	stopped     bool     // for good: nobody expects it to act
	held        []string // kinds of which the view is held back; "" for all
	caches      []*view.Cache
	workers     []work
	former      []work // of the incarnation before: its last requests may still land
	queue       view.Queue

	rested  bool // the world was at rest in this life, and it had been shown everything
	synced  bool // every informer of this incarnation had its initial list
	early   int  // index of its first write before that; -1 for none
	version uint64
	kind    string // of the delivery with that version

	reordered bool // kinds reached it in another order than they changed in
	wasOff    bool // it was down, blind or late for a while
	disturbed bool // others changed what it manages

	tried map[try]time.Duration // what it has tried again by replacing what had failed; when that sync began

	gone    map[types.UID]bool // collector: owners it was told are gone
	lookups map[coords]lookup  // collectors: what its last live read of a name found
	forgot  bool               // some of both, that it may remember
	cut     map[types.UID]cut  // collector: by object, what it took off and is yet to be shown

	shares []Share // by seat

	looked map[view.Key]bool // what it has synced, all well, since it was last shown anything; where an invariant asks
	news   int               // the record of what it was last shown

	met   map[view.Key]bool // names of what it syncs, that it was ever shown
	puts  map[string]bool   // finalizers that it was seen to put on objects
	gave  map[race]bool     // references to others that it put on objects
	known view.Known        // of what it syncs and manages
	roofs map[types.UID]int // of a program: how many dependents it was shown an owner to ask for, at the most
	made  made              // what it created of other kinds, and has not been shown
}

// work is what one worker is at.
type work struct {
	owner types.UID     // of For; "" when idle
	begun int           // the record of its SyncStart
	at    time.Duration // ... and when that was
	key   view.Key

	read    bool      // it has read For live in this sync
	live    types.UID // what it found by that name, unless it was going
	refuses bool      // and what it read forbids adoption: gone, replaced or being deleted

	counted int // dependents of For it can have seen in this sync
	shown   int // active ones that its cache showed when the sync began, where MaxActive is declared

	busy   bool        // in a sync
	began  int         // active dependents of For that it knew when the sync began (EXACT-1)
	more   int         // that it has been shown since
	fewer  int         // that it has been shown to be so no more
	own    int         // that its own writes of this sync added, or took away
	listed bool        // it has listed dependents live, or what may use what it keeps
	missed int         // dependents that its requests found gone
	used   []types.UID // what its finalizer keeps, and was in use when it listed what may use that

	release string // the refusal of a release that found the object gone; "" for none
	refused bool   // some other request of the sync was refused
}

// fewest is how many active dependents its owner has at the least, by anything
// the worker can have gone by in this sync: it may have looked at each of them at
// another moment, and always knows what it did itself and what it found gone.
func (k *work) fewest() int { return k.began - k.fewer + k.own - k.missed }

// most is how many it has at the most.
func (k *work) most() int { return k.began + k.more + k.own }

// lookup is what a live read found: the uid, "" for nothing, and whether it was
// waiting for its dependents.
type lookup struct {
	uid     types.UID
	waiting bool
	record  int
}

// Cache is the process's view of a kind.
func (p *process) Cache(kind string) *view.Cache {
	for _, c := range p.caches {
		if c.Kind == kind {
			return c
		}
	}
	c := view.NewCache(kind)
	p.caches = append(p.caches, c)
	return c
}

// manages reports whether objects of a kind are dependents of the subject's.
func (p *process) manages(kind string) bool { return p.Actor.manages(kind) }

// follows reports whether a process's knowledge of a kind is kept.
func (p *process) follows(kind string) bool {
	return p.Actor.For.Kind != "" && (kind == p.Actor.For.Kind || p.manages(kind))
}

// works reports whether a process is up and sees.
func (p *process) works() bool { return !p.down && !p.stopped && len(p.held) == 0 }

// work returns what the worker that a record is about is at; nil when that is
// no longer known.
func (p *process) work(r *sim.Record) *work {
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

// resolve is the key of the owner a reference names, as the process's view has
// it: kind, name and uid must agree. "" where there is none.
func (p *process) resolve(ref *metav1.OwnerReference, namespace string) string {
	if ref == nil || ref.Kind != p.Actor.For.Kind {
		return ""
	}
	c := p.Cache(p.Actor.For.Kind)
	e := c.Get(namespace, ref.Name)
	if e == nil && namespace != "" {
		e = c.Get("", ref.Name)
	}
	if e == nil || e.Meta.GetUID() != ref.UID {
		return ""
	}
	return e.Text
}

// keyed is the cached object with a key of the kind the process syncs.
func (p *process) keyed(key string) *view.Entry {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		ns, name = "", key
	}
	return p.Cache(p.Actor.For.Kind).Get(ns, name)
}

func (p *process) meet(name view.Key) {
	if p.met == nil {
		p.met = map[view.Key]bool{}
	}
	p.met[name] = true
}

// restart forgets what a process loses in a crash.
func (p *process) restart(incarnation int) {
	p.incarnation = incarnation
	p.known.Crash()
	p.former, p.workers = p.workers, p.former[:0]
	for _, c := range p.caches {
		c.Clear()
	}
	p.queue.Clear()
	p.synced, p.rested, p.early, p.version, p.kind = false, false, -1, 0, ""
	p.made, p.roofs = nil, nil
	p.forgot = false
	clear(p.gone)
	clear(p.cut)
	clear(p.lookups)
	clear(p.looked)
	clear(p.tried)
}

func (p *process) forgetRun() {
	p.down, p.stopped, p.held, p.former = false, false, p.held[:0], p.former[:0]
	p.reordered, p.wasOff, p.disturbed = false, false, false
	p.shares = p.shares[:0]
	p.made, p.roofs = nil, nil
	p.known.Clear()
	clear(p.known.Past)
	clear(p.gave)
	clear(p.met)
	clear(p.puts)
	clear(p.tried)
}
