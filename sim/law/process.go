package law

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// process is the state of an actor's process according to the records: what it has received, and what it is doing.
type process struct {
	Actor Actor

	incarnation int
	down        bool
	stopped     bool     // a "stop" record said that it will not act again
	held        []string // kinds whose watch is paused; "" for all
	caches      []*view.Cache
	workers     []work
	former      []work // the work of the previous incarnation, whose last requests may still arrive
	queue       view.Queue

	settled bool   // the world has settled in this incarnation
	synced  bool   // every informer of this incarnation has had its initial list
	early   int    // index of the record of its first write before the initial lists; -1 for none
	version uint64 // the newest resourceVersion of a delivery
	kind    string // the kind of the delivery with that version

	reordered bool // it received events of two kinds in another order than they happened
	wasOff    bool // it crashed or restarted, or a watch was paused or replaced by a list
	disturbed bool // another client changed one of its dependents

	tried map[try]time.Duration // start of the last reconcile that retried this work by replacing a dependent

	gone    map[types.UID]bool // garbage collector: owners whose deletion it has received
	lookups map[coords]lookup  // result of the last live read of each name
	forgot  bool               // the judge has dropped entries of gone or lookups
	cut     map[types.UID]cut  // garbage collector: references that it has removed, but its cache may still contain

	shares []Share // its Share of each law, in the order of [Judge].checks

	looked map[view.Key]bool // keys reconciled without error since the last delivery, for [Facts].Reconciled
	news   int               // index of the record of the last delivery

	met           map[view.Key]bool // keys of the reconciled kind that it has ever received
	puts          map[string]bool   // finalizers that it has added to existing objects
	gave          map[race]bool     // references that it has added, except those to the reconciled object
	known         view.Known        // objects of the kinds that it reconciles and manages
	roofs         map[types.UID]int // programs: most dependents that a received version of an owner wants; -1: any
	createdUnseen createdUnseen
}

// work is what one worker is doing.
type work struct {
	owner types.UID // UID of the reconciled object, For; "" when idle
	begun int       // index of the record of its SyncStart
	at    time.Duration
	key   view.Key

	read    bool      // in this reconcile, it has read the reconciled object (For) from the server
	live    types.UID // the UID in that read; "" if the object was missing or terminating
	refuses bool      // that read forbids adoption: the object was missing, recreated or terminating

	counted int // number of dependents of For that it can have read in this reconcile
	shown   int // number of active dependents in its cache when the reconcile began, if MaxActive is set

	busy   bool
	began  int         // number of active dependents of For that it knew when the reconcile began (EXACT-1)
	more   int         // number of dependents that it has seen become active since
	fewer  int         // number of dependents that it has seen become inactive or deleted since
	own    int         // number of dependents that its own writes in this reconcile added, minus the number removed
	listed bool        // it has listed dependents live, or any objects if the contract has FinalizerReason
	missed int         // number of its writes to dependents, except creates, that were refused with 404, 409 or 422
	used   []types.UID // terminating objects with its finalizer that were in use when it last listed

	release string // the error of a release that did not find the object; "" for none
	refused bool   // a request other than such a release was refused
}

// fewest returns the smallest number of active dependents that the worker may have counted for its owner in this
// reconcile. The worker may have read each dependent at another moment. But it knows its own writes, and each refused
// write (see missed) may have told it that a dependent is gone.
func (k *work) fewest() int { return k.began - k.fewer + k.own - k.missed }

// most returns the largest number of active dependents that the worker may have counted.
func (k *work) most() int { return k.began + k.more + k.own }

// lookup is the result of a live read: the UID ("" for 404), and whether the object waited for its dependents.
type lookup struct {
	uid     types.UID
	waiting bool
	record  int
}

// Cache returns the process's cache of a kind.
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

func (p *process) manages(kind string) bool { return p.Actor.manages(kind) }

// follows reports whether the process reconciles or manages a kind. p.known contains only objects of such kinds.
func (p *process) follows(kind string) bool {
	return p.Actor.For.Kind != "" && (kind == p.Actor.For.Kind || p.manages(kind))
}

func (p *process) works() bool { return !p.down && !p.stopped && len(p.held) == 0 }

// work returns the work of the record's worker, or nil if it is no longer kept.
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

// resolve returns the key of the owner that a reference names. It returns "" if the process's cache has no object with
// the kind, name and UID of the reference.
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

// keyed returns the cached object of the reconciled kind with that key.
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

// restart resets what a process loses in a crash.
func (p *process) restart(incarnation int) {
	p.incarnation = incarnation
	p.known.Crash()
	p.former, p.workers = p.workers, p.former[:0]
	for _, c := range p.caches {
		c.Clear()
	}
	p.queue.Clear()
	p.synced, p.settled, p.early, p.version, p.kind = false, false, -1, 0, ""
	p.createdUnseen, p.roofs = nil, nil
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
	p.createdUnseen, p.roofs = nil, nil
	p.known.Clear()
	clear(p.known.Past)
	clear(p.gave)
	clear(p.met)
	clear(p.puts)
	clear(p.tried)
}

// Share is the result of a law for one controller. If Exercised is 0, a Share without violations proves nothing.
type Share struct {
	Controller string
	Exercised  int // how often it exercised the law
	Broken     int // number of Informed violations
}

func (p *process) share(check int) *Share {
	for len(p.shares) <= check {
		p.shares = append(p.shares, Share{Controller: p.Actor.Controller})
	}
	return &p.shares[check]
}
