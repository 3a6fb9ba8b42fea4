package host

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Process is one running instance of a controller, with its own caches, queue and workers. Each process may lag behind
// and may fail independently of the others.
type Process struct {
	Name        string
	Era         string
	Incarnation int  // number of restarts so far
	Down        bool // crashed and not yet restarted
	StandsBy    bool // down because its manager does not lead

	cluster    *Cluster
	controller Controller
	engine     engine // set for a whole program; nil for a reconciler
	reconciler Reconciler
	queue      *queue
	workers    []*worker
	informers  map[*fakeapi.Kind]*informer
	order      []*informer  // the informers, in the order of their first use
	synced     bool         // every informer has delivered its initial list
	news       []sim.Action // one Deliver action for each informer with a waiting event: see [informer.notice]
	offers     []sim.Action // the result of the last call of Offers
	touched    bool         // offers may be out of date
	busy       int          // number of workers that run a reconcile
	restarts   bool         // the process is down and may restart
	from       uint64       // revision of the lists at the next start; 0 for the latest

	slow       time.Duration // how long each slow write takes, in virtual time
	slowWrites int           // the number of the next writes that are slow

	exits    int // consecutive exits of the process's program without a successful write
	exitedAt int // the length of the history at the last exit

	causes  map[string]int // queued key -> index of the record that queued it
	memory  sim.Hash       // digest of everything that the process has received since its start
	manager *Process       // the process whose members include this one; nil if there is none
	members []*Process     // processes that run only while this one is the leader

	timed func(func()) // runs the controller's functions in a bubble; nil if they are called directly

	reads sync.Mutex      // guards caches against the goroutines of reconciles
	last  *concurrentSync // the last concurrent reconcile that began
	apart string          // "New" or "a handler" while it runs; set only if reconciles may start goroutines

	names  []string // the array that the fields Enqueued and Observed of records share
	effect Effect
}

// engine runs a whole program as a process. Such a process has no workers, queue or informers.
type engine interface {
	start(p *Process)
	kill() (about string)
	offer(into []sim.Action) []sim.Action
	take(x sim.Action)
	digestAbstract(h *sim.Hash)

	// asking returns the first pending request, and whether it is answered. ok is false if none is pending.
	asking() (req *fakeapi.Request, answered, ok bool)
	// filling reports whether the program has sent only lists and watches since its start.
	filling() bool
	// asker returns the first request that waits to be executed and for which f returns true.
	asker(f func(asker) bool) asker
	// watched lists the kinds that the program watches. gaps lists the kinds with more than one waiting event.
	watched() []*fakeapi.Kind
	gaps() []*fakeapi.Kind
	// relist ends the watches of a kind. It reports whether there were any.
	relist(k *fakeapi.Kind) bool
	// hold pauses or resumes the watches of a kind. If the kind to pause is not watched, hold returns false.
	hold(k *fakeapi.Kind, held bool) bool
	// holding reports whether a watch is paused. withheld reports whether events wait for a paused watch.
	holding() bool
	withheld() bool
}

// Start runs a controller as a separate process. The name must be unique in the cluster. Two processes may run the same
// controller.
func (c *Cluster) Start(name string, ctl Controller) *Process {
	if c.Process(name) != nil {
		panic(Misuse("a process named " + name + " runs already"))
	}
	if err := ctl.Check(); err != nil {
		panic(Misuse(err.Error()))
	}
	p := &Process{cluster: c, controller: ctl}
	p.Name = name
	c.processes = append(c.processes, p)
	c.world.Add(actor{p})
	p.start()
	return p
}

// start begins a new incarnation with empty memory and empty caches.
func (p *Process) start() {
	c := p.cluster
	p.Era, p.Down, p.restarts, p.synced, p.busy = p.controller.Era, false, false, false, 0
	p.informers, p.order, p.news = map[*fakeapi.Kind]*informer{}, nil, p.news[:0]
	p.touched = true
	p.causes, p.memory = map[string]int{}, 0
	if p.engine = nil; p.controller.program {
		p.queue, p.workers = nil, nil
		p.reconciler = p.controller.New(nil)
		p.engine = p.reconciler.(engine)
		p.engine.start(p)
		return
	}
	p.queue = newQueue(&c.world.Clock, p.Name, p.controller.Backoff, p.enqueued)
	p.queue.cause, p.queue.pushed = &c.cause, &p.touched
	p.queue.delayed = func(key string) { p.names = append(p.names, key) }
	p.queue.careless, p.queue.hasty = p.controller.Careless.SharedKeys, p.controller.Careless.HastyDelays
	env := &Env{
		Client: &client{server: c.server, send: p.send}, Queue: p.queue, Now: c.world.Clock.Now,
		Informer: p.sharedInformer, Behind: p.behind,
		Kinds:  func() []*fakeapi.Kind { return p.known(c.server.Kinds()) },
		Served: func() []*fakeapi.Kind { return p.known(c.server.Served()) },
	}
	for _, gvk := range p.controller.watched() {
		p.sharedInformer(gvk)
	}
	if p.timed = nil; p.controller.Inside != nil {
		p.timed = p.controller.Inside(c)
	}
	p.inside("New", func() { p.reconciler = p.controller.New(env) })
	if p.reconciler == nil {
		panic(Misuse("controller " + p.controller.Name + ": New returned nil"))
	}
	p.workers = p.workers[:0]
	for i := range p.workersWanted() {
		p.workers = append(p.workers, newWorker(p, i))
	}
	p.listEmpty()
}

// listEmpty performs the initial lists of kinds that never had an object. A garbage collector watches every kind, so
// separate steps for these lists would only multiply the states to search.
func (p *Process) listEmpty() {
	for _, i := range p.order {
		if len(i.state.latest) == 0 {
			i.synced, i.cache.rv = true, p.cluster.server.Version()
			i.notice()
		}
	}
	p.noteSynced()
}

// watched lists the kinds in For, Owns, Routes and Reads, each once.
func (ctl *Controller) watched() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	add := func(gvk schema.GroupVersionKind) {
		if !gvk.Empty() && !slices.Contains(out, gvk) {
			out = append(out, gvk)
		}
	}
	add(ctl.For)
	for _, gvk := range ctl.Owns {
		add(gvk)
	}
	for _, r := range ctl.Routes {
		add(r.Kind)
	}
	for _, gvk := range ctl.Reads {
		add(gvk)
	}
	return out
}

// known records that the process has read the list of kinds, and returns the list unchanged. No event reports a change
// of this list. So in worlds that compare states, the digest of the process must contain the list.
func (p *Process) known(all []*fakeapi.Kind) []*fakeapi.Kind {
	if !p.cluster.world.Compared() {
		return all
	}
	p.reads.Lock()
	defer p.reads.Unlock()
	var h sim.Hash
	for _, k := range all {
		h.String(k.GVK.Group)
		h.String(k.GVK.Version)
		h.String(k.GVK.Kind)
	}
	p.memory.Word(uint64(h))
	if w := p.cluster.running; w != nil && w.process == p {
		w.foldRead(uint64(h))
	}
	return all
}

func (p *Process) workersWanted() int { return max(p.controller.Workers, 1) }

// stamp writes the process's name, era and incarnation into a record.
func (p *Process) stamp(r *sim.Record) {
	r.Process, r.Era, r.Incarnation = p.Name, p.Era, p.Incarnation
}

// delivery returns the record of a change that the process receives.
func (p *Process) delivery(kind *fakeapi.Kind, ch *change, v *version, initial bool) sim.Record {
	r := sim.Record{Op: sim.Delivery, Cause: ch.cause, Verb: "deliver", Object: refOf(kind, v.meta), Version: ch.version,
		Initial: initial, Tombstone: ch.tombstone}
	p.stamp(&r)
	return r
}

// IsProgram reports whether the process runs a whole program.
func (p *Process) IsProgram() bool { return p.controller.program }

// Controller returns the process's controller.
func (p *Process) Controller() Controller { return p.controller }

func (p *Process) sharedInformer(gvk schema.GroupVersionKind) cache.SharedIndexInformer {
	k := p.cluster.kind(gvk)
	if i := p.informers[k]; i != nil {
		if i.gvk != gvk {
			panic(Misuse(fmt.Sprintf("%s watches %s in the versions %s and %s: a process watches a kind in one", p.Name,
				gvk.Kind, i.gvk.Version, gvk.Version)))
		}
		return i
	}
	i := &informer{process: p, kind: k, gvk: gvk, state: p.cluster.state(k), cache: newIndexer(p.cluster.free),
		from: p.from, slot: len(p.order)}
	if i.cache.reader = i; p.concurrent() {
		i.cache.reads = &p.reads
	}
	if definition, _ := k.Definition(); definition != nil || gvk != k.GVK {
		i.cache.show = i.show
	}
	p.informers[k] = i
	p.order = append(p.order, i)
	p.synced = false
	i.notice()
	return i
}

func (p *Process) enqueued(key string, fresh bool) {
	if fresh {
		p.causes[key] = p.cluster.cause
	}
	p.names = append(p.names, key)
}

// causeOf returns the index of the record that queued a key, or -1. It removes the key from causes.
func (p *Process) causeOf(key string) int {
	cause, ok := p.causes[key]
	if !ok {
		return -1
	}
	delete(p.causes, key)
	return cause
}

// ownerOf returns a reference to the reconciled object with this key, and its cached version or nil. If the controller
// reconciles no kind, the reference has only a Name, which is the key.
func (p *Process) ownerOf(key string) (sim.Ref, *version) {
	if p.controller.For.Empty() {
		return sim.Ref{Name: key}, nil
	}
	ns, name := splitKey(key)
	ref := sim.Ref{Kind: p.controller.For.Kind, Namespace: ns, Name: name}
	v := p.informers[p.cluster.kind(p.controller.For)].cache.get(key)
	if v == nil {
		return ref, nil
	}
	ref.UID = string(v.meta.GetUID())
	return ref, v
}

// forgetReplaced drops the replaced versions if no reconcile is running, because only a running one may have read them.
func (p *Process) forgetReplaced() {
	if p.busy == 0 {
		for _, i := range p.order {
			i.replaced = i.replaced[:0]
		}
	}
}
