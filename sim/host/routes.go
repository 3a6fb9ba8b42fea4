package host

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

// namesKept is the length at which a new array replaces [Process].names.
const namesKept = 1024

// notify calls routes and handlers for one change, and records their effect.
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
		if w.concurrentSync != nil {
			w.concurrentSync.shown(v)
		}
	}
	p.memory.Word(changeFlags(ch, initial))
	r := p.delivery(i.kind, ch, v, initial)
	e := Event{Tombstone: ch.tombstone}
	if old != nil {
		r.Before, e.Old = old.obj, i.cache.shown(old).obj
	}
	if ch.after != nil {
		r.After, e.New = ch.after.obj, i.cache.shown(ch.after).obj
	}
	rec := c.world.Record(r)
	before := c.cause
	c.cause = rec.Index
	if len(p.names) >= namesKept {
		p.names = make([]string, 0, 2*namesKept) // records still use the old array
	}
	start := len(p.names)
	observed := p.route(i.gvk, e)
	i.handle(e, initial)
	p.names = append(p.names, observed...)
	end := len(p.names) - len(observed)
	rec.Enqueued, rec.Observed = p.names[start:end:end], p.names[end:len(p.names):len(p.names)]
	c.cause = before
}

// route calls the routes for an event, applies their effect, and returns the keys whose expectations were lowered.
func (p *Process) route(gvk schema.GroupVersionKind, e Event) []string {
	f := &p.effect
	f.Keys, f.Delayed, f.Created, f.Deleted, f.Forget = f.Keys[:0], f.Delayed[:0], f.Created[:0], f.Deleted[:0],
		f.Forget[:0]
	for j := range p.controller.Routes {
		if p.controller.Routes[j].Kind == gvk {
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
	name := keyOf(obj.(metav1.Object))
	for _, key := range f.Created {
		ob.Observed(key, false, name)
	}
	for _, key := range f.Deleted {
		ob.Observed(key, true, name)
	}
}

func (i *informer) handle(e Event, initial bool) {
	for _, r := range i.handlers {
		switch {
		case r.gone:
		case e.Old == nil:
			r.handler.OnAdd(e.New, initial)
		case e.New == nil && e.Tombstone:
			r.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: keyOf(e.Old.(metav1.Object)), Obj: e.Old})
		case e.New == nil:
			r.handler.OnDelete(e.Old)
		default:
			r.handler.OnUpdate(e.Old, e.New)
		}
	}
}

// view gives routes access to a process's caches.
type view Process

func (v *view) Get(gvk schema.GroupVersionKind, namespace, name string) runtime.Object {
	c := v.cache(gvk)
	if ver := c.get(sim.Ref{Namespace: namespace, Name: name}.Key()); ver != nil {
		return c.shown(ver).obj
	}
	return nil
}

func (v *view) cache(gvk schema.GroupVersionKind) *indexer {
	i := v.informers[v.cluster.kind(gvk)]
	if i == nil {
		panic(fmt.Sprintf("host: a route of %s reads %s, which the controller does not watch", v.Name, gvk.Kind))
	}
	return i.cache
}

func (v *view) Each(gvk schema.GroupVersionKind, namespace string, f func(runtime.Object) bool) {
	c := v.cache(gvk)
	if each := func(ver *version) bool { return f(c.shown(ver).obj) }; namespace == "" {
		c.items.Ascend(each)
	} else {
		c.within(namespace, each)
	}
}
