package host

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Process is one running instance of a controller: its own caches, its own
// queue, its own workers. It is the unit of staleness and of failure.
type Process struct {
	Name        string
	Generation  string
	Incarnation int  // restarts so far
	Down        bool // crashed and not yet restarted

	cluster    *Cluster
	controller Controller
	reconciler Reconciler
	queue      *queue
	workers    []*worker
	informers  map[*fakeapi.Kind]*informer
	order      []*informer // in the order in which they were asked for
	synced     bool        // every informer has delivered its initial list
	busy       int         // workers in a sync
	restarts   bool        // down, and free to come up again
	from       uint64      // revision the next start lists at; 0 for the latest

	causes map[string]int // queued key -> the record that queued it
	memory sim.Hash       // everything the process was told since it started
	names  []string       // keys enqueued and observed, in records
	effect Effect
}

// Start runs a controller as a process of its own. The name must be unique in
// the cluster; two processes may run the same controller.
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

// start makes a new incarnation: empty memory, empty caches.
func (p *Process) start() {
	c := p.cluster
	p.Generation, p.Down, p.restarts, p.synced, p.busy = p.controller.Generation, false, false, false, 0
	p.informers, p.order = map[*fakeapi.Kind]*informer{}, nil
	p.causes, p.memory = map[string]int{}, 0
	p.queue = newQueue(&c.world.Clock, p.Name, p.enqueued)
	p.queue.careless, p.queue.hasty = p.controller.CarelessQueue, p.controller.CarelessDelay
	env := &Env{
		Client: &client{server: c.server, send: p.send}, Queue: p.queue, Now: c.world.Clock.Now,
		Informer: p.sharedInformer, Kinds: p.kinds,
	}
	for _, gvk := range p.controller.watched() {
		p.sharedInformer(gvk)
	}
	if p.reconciler = p.controller.New(env); p.reconciler == nil {
		panic(Misuse("controller " + p.controller.Name + ": New returned nil"))
	}
	p.workers = p.workers[:0]
	for i := range p.workersWanted() {
		p.workers = append(p.workers, newWorker(p, i))
	}
	p.listEmpty()
}

// listEmpty performs the initial lists that are sure to find nothing, those of
// kinds of which there never was an object: a collector watches every kind, and
// as many steps would say nothing.
func (p *Process) listEmpty() {
	for _, i := range p.order {
		if len(i.state.latest) == 0 {
			i.synced = true
		}
	}
	p.noteSynced()
}

// watched lists the kinds a controller declares, each once.
func (ctl *Controller) watched() []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	add := func(gvk schema.GroupVersionKind) {
		for _, g := range out {
			if g == gvk {
				return
			}
		}
		if !gvk.Empty() {
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
	return out
}

// kinds is the server's table as the process reads it: it is told by no event, so
// what was read is part of what it knows.
func (p *Process) kinds() []*fakeapi.Kind {
	all := p.cluster.server.Kinds()
	if !p.cluster.world.Compared() {
		return all
	}
	var h sim.Hash
	for _, k := range all {
		h.String(k.GVK.Group)
		h.String(k.GVK.Version)
		h.String(k.GVK.Kind)
	}
	p.memory.Word(uint64(h))
	if w := p.cluster.running; w != nil && w.process == p {
		w.local.Word(uint64(h))
	}
	return all
}

func (p *Process) workersWanted() int { return max(p.controller.Workers, 1) }

// Controller is what the process runs.
func (p *Process) Controller() Controller { return p.controller }

func (p *Process) sharedInformer(gvk schema.GroupVersionKind) cache.SharedIndexInformer {
	k := p.cluster.kind(gvk)
	if i := p.informers[k]; i != nil {
		return i
	}
	i := &informer{process: p, kind: k, state: p.cluster.state(k), cache: newIndexer(p.cluster.free), from: p.from}
	i.cache.read, i.cache.named = i.noteRead, i.noteNamed
	p.informers[k] = i
	p.order = append(p.order, i)
	p.synced = false
	return i
}

// enqueued is the queue's hook.
func (p *Process) enqueued(key string, fresh bool) {
	if fresh {
		p.causes[key] = p.cluster.cause
	}
	p.names = append(p.names, key)
}

// causeOf returns the record because of which a key was queued.
func (p *Process) causeOf(key string) int {
	cause, ok := p.causes[key]
	if !ok {
		return -1
	}
	delete(p.causes, key)
	return cause
}

// ownerOf finds the object a key names in the process's own view. For a
// controller that syncs no kind of its own the key itself stands for it.
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

// namesKept is how many names of keys share one array.
const namesKept = 1024

// notify tells routes and handlers of one change and records what they did.
func (p *Process) notify(i *informer, ch *change, old *version, initial bool) {
	c := p.cluster
	v := ch.after
	if v == nil {
		v = old
	}
	p.memory.Word(v.exact)
	for _, w := range p.workers {
		if w.state == asking {
			w.late += sim.Mix(v.exact)
		}
	}
	p.memory.Word(changeFlags(ch, initial))
	r := sim.Record{Op: sim.Delivery, Cause: ch.cause, Process: p.Name, Generation: p.Generation, Incarnation: p.Incarnation,
		Verb: "deliver", Object: refOf(i.kind, v.meta), Version: ch.version, Initial: initial, Tombstone: ch.tombstone}
	e := Event{Tombstone: ch.tombstone}
	if old != nil {
		r.Before, e.Old = old.obj, old.obj
	}
	if ch.after != nil {
		r.After, e.New = ch.after.obj, ch.after.obj
	}
	rec := c.world.Record(r)
	before := c.cause
	c.cause = rec.Index
	if len(p.names) >= namesKept {
		p.names = make([]string, 0, 2*namesKept) // records hold on to their part of the old one
	}
	start := len(p.names)
	observed := p.route(i.kind, e)
	i.handle(e, initial)
	p.names = append(p.names, observed...)
	end := len(p.names) - len(observed)
	rec.Enqueued, rec.Observed = p.names[start:end:end], p.names[end:len(p.names):len(p.names)]
	c.cause = before
}

// route runs the controller's routes on an event and applies their effect. It
// returns the keys whose expectations moved.
func (p *Process) route(k *fakeapi.Kind, e Event) []string {
	f := &p.effect
	f.Keys, f.Delayed, f.Created, f.Deleted, f.Forget = f.Keys[:0], f.Delayed[:0], f.Created[:0], f.Deleted[:0], f.Forget[:0]
	for j := range p.controller.Routes {
		if p.controller.Routes[j].Kind == k.GVK {
			p.controller.Routes[j].Do((*view)(p), e, f)
		}
	}
	if fg, ok := p.reconciler.(Forgetter); ok {
		for _, key := range f.Forget {
			fg.Forget(key)
		}
	}
	if ob, ok := p.reconciler.(ExpectationObserver); ok && len(f.Created)+len(f.Deleted) > 0 {
		p.observe(ob, e, f)
	}
	for _, key := range f.Keys {
		p.queue.Add(key)
	}
	for _, d := range f.Delayed {
		p.queue.AddAfter(d.Key, d.After)
	}
	return append(f.Created, f.Deleted...)
}

func (p *Process) observe(ob ExpectationObserver, e Event, f *Effect) {
	obj := e.New
	if obj == nil {
		obj = e.Old
	}
	name := keyOf(metaOf(obj))
	for _, key := range f.Created {
		ob.Observed(key, false, name)
	}
	for _, key := range f.Deleted {
		ob.Observed(key, true, name)
	}
}

// handle calls the handlers a controller added itself.
func (i *informer) handle(e Event, initial bool) {
	for _, r := range i.handlers {
		switch {
		case r.gone:
		case e.Old == nil:
			r.handler.OnAdd(e.New, initial)
		case e.New == nil && e.Tombstone:
			r.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: keyOf(metaOf(e.Old)), Obj: e.Old})
		case e.New == nil:
			r.handler.OnDelete(e.Old)
		default:
			r.handler.OnUpdate(e.Old, e.New)
		}
	}
}

// forgetReplaced drops what no sync in progress can have read.
func (p *Process) forgetReplaced() {
	if p.busy == 0 {
		for _, i := range p.order {
			i.replaced = i.replaced[:0]
		}
	}
}

// view is a process's caches as routes read them.
type view Process

// Get returns the cached object.
func (v *view) Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object {
	i := v.informers[v.cluster.kind(gvk)]
	if i == nil {
		panic(fmt.Sprintf("host: a route of %s reads %s, which the controller does not watch", v.Name, gvk.Kind))
	}
	key := name
	if namespace != "" {
		key = namespace + "/" + name
	}
	if ver := i.cache.get(key); ver != nil {
		return ver.obj
	}
	return nil
}

// Each calls f for the cached objects of a kind in a namespace.
func (v *view) Each(gvk schema.GroupVersionKind, namespace string, f func(runtime.Object) bool) {
	i := v.informers[v.cluster.kind(gvk)]
	if i == nil {
		panic(fmt.Sprintf("host: a route of %s reads %s, which the controller does not watch", v.Name, gvk.Kind))
	}
	set := i.cache.items
	if namespace != "" {
		set = i.cache.indices[cache.NamespaceIndex][namespace]
	}
	if set != nil {
		set.Ascend(func(ver *version) bool { return f(ver.obj) })
	}
}
