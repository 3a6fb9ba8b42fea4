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
	stopped     bool     // a "stop" record ended the process for good
	held        []string // kinds whose watch is paused; "" for all
	caches      []*view.Cache
	workers     []work
	former      []work // the work of the previous incarnation, whose last requests may still arrive
	queue       view.Queue

	settled bool   // the world has settled since this incarnation began
	synced  bool   // every informer of this incarnation has had its initial list
	early   int    // record index of the first write before the initial lists; -1 for none
	version uint64 // the newest resourceVersion in any delivery
	kind    string // the kind of the object whose delivery set the field version

	reordered bool // the process received changes of two kinds in another order than they happened
	wasOff    bool // the process crashed or restarted, or a watch was paused or replaced by a list
	disturbed bool // another client changed a dependent of the process

	tried map[try]time.Duration // retried work -> start of the last reconcile that replaced a failed dependent

	gone    map[types.UID]bool // garbage collector only: owners whose deletion was delivered
	lookups map[coords]lookup  // name of an object -> result of the last live read
	forgot  bool               // entries of the fields gone or lookups were dropped, see [Judge].Memory
	cut     map[types.UID]cut  // garbage collector only: removed references that the cache may still contain

	shares []Share // the Share for each law, in the order of [Judge].checks

	looked map[view.Key]bool // keys reconciled without error since the last delivery, for [Facts].Reconciled
	news   int               // record index of the last delivery

	met           map[view.Key]bool // keys of all objects of the reconciled kind that were ever delivered
	puts          map[string]bool   // finalizers that the process has added to existing objects
	includes      map[string]bool   // finalizers with which it has created objects: they may come from a template
	gave          map[race]bool     // added owner references, except references to the reconciled object
	known         view.Known        // objects of the kinds that the actor reconciles or manages
	roofs         map[types.UID]int // programs only: owner -> maximum wanted by any received version; -1: no limit
	createdUnseen createdUnseen
}

// work describes the reconcile of one worker.
type work struct {
	owner types.UID // UID of the reconciled object (For); "" between two reconciles
	begun int       // index of the SyncStart record
	at    time.Duration
	key   view.Key

	read    bool      // the worker has read the reconciled object (For) from the server
	live    types.UID // UID of For in the last live read; "" if For was missing or terminating
	refuses bool      // the last live read forbids adoptions: For was missing, recreated or terminating

	counted int // number of dependents of For that the worker may have read in this reconcile
	shown   int // number of active dependents in the cache when the reconcile began, if MaxActive is set

	busy   bool
	began  int         // number of known active dependents of For when the reconcile began (EXACT-1)
	more   int         // number of dependents that the process saw become active during the reconcile
	fewer  int         // number of dependents that the process saw become inactive or deleted during the reconcile
	own    int         // number of dependents that the worker added in this reconcile, minus the number removed
	listed bool        // the worker has listed dependents from the server (any objects, if FinalizerReason is set)
	missed int         // number of updates, patches and deletes of dependents that were refused with 404, 409 or 422
	used   []types.UID // terminating objects with a finalizer of the actor that were in use at the last list

	release string // the error of a release that did not find the object; "" for none
	refused bool   // another request than the release of a missing object was refused
}

// fewest returns the smallest number of active dependents that the worker may have counted in this reconcile. The
// worker may have read each dependent at a different moment, but knows its own writes. Each refused write (see missed)
// may have shown that a dependent is gone.
func (k *work) fewest() int { return k.began - k.fewer + k.own - k.missed }

// most returns the largest number of active dependents that the worker may have counted.
func (k *work) most() int { return k.began + k.more + k.own }

// lookup is the result of a live read: the UID ("" for 404), and whether the object waited for its dependents.
type lookup struct {
	uid     types.UID
	waiting bool
	record  int
}

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

// follows reports whether the process reconciles or manages a kind. Otherwise p.known contains no object of the kind.
func (p *process) follows(kind string) bool {
	return p.Actor.For.Kind != "" && (kind == p.Actor.For.Kind || p.manages(kind))
}

func (p *process) works() bool { return !p.down && !p.stopped && len(p.held) == 0 }

// work returns the state of the reconcile of the record's worker. It returns nil if the record's incarnation is older
// than the previous one, whose states are no longer kept.
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

// keyed returns the cached object of the reconciled kind with that key, or nil.
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
	clear(p.includes)
	clear(p.tried)
}

// Share is the result of a law for one controller. If Exercised is 0, a Share without violations proves nothing.
type Share struct {
	Controller string
	Exercised  int // how often the controller exercised the law
	Broken     int // number of Informed violations
}

func (p *process) share(check int) *Share {
	for len(p.shares) <= check {
		p.shares = append(p.shares, Share{Controller: p.Actor.Controller})
	}
	return &p.shares[check]
}
