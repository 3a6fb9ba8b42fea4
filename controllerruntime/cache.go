package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// simulatedCache is the manager's cache. It reads from the process's informers.
type simulatedCache struct {
	cacheReader
}

func (c simulatedCache) GetInformer(_ context.Context, obj client.Object,
	_ ...ctrlcache.InformerGetOption) (ctrlcache.Informer, error) {
	f, err := c.p.formOf(obj)
	if err != nil {
		return nil, err
	}
	return c.informer(f)
}

func (c simulatedCache) GetInformerForKind(_ context.Context, gvk schema.GroupVersionKind,
	_ ...ctrlcache.InformerGetOption) (ctrlcache.Informer, error) {
	obj, err := c.p.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	return c.informer(form{gvk, reflect.TypeOf(obj)})
}

// informer returns the informer of a kind in a Go type. While the process starts, sources call informer on other
// goroutines, one at a time. If informer panics then, it returns an error, and stores the panic's value in c.p.failed.
func (c simulatedCache) informer(f form) (i ctrlcache.Informer, err error) {
	if c.p.starting != nil {
		defer func() {
			if r := recover(); r != nil {
				c.p.failed, err = r, fmt.Errorf("%v", r)
			}
			if err != nil {
				c.p.giveUp() // without this, the source would retry forever
			}
		}()
	}
	if c.p.env == nil {
		return undeclared{}, nil
	}
	v, err := c.p.viewOf(f)
	if err != nil {
		return nil, err
	}
	return typedInformer{v, c.p}, nil
}

func (c simulatedCache) IndexField(_ context.Context, obj client.Object, field string,
	values client.IndexerFunc) error {
	f, err := c.p.formOf(obj)
	if err != nil {
		return err
	}
	if c.p.env == nil {
		c.p.indexed = append(c.p.indexed, f.gvk)
		return nil
	}
	v, err := c.p.viewOf(f)
	if err != nil {
		return err
	}
	return v.index(field, values)
}

// WaitForCacheSync returns at once, because workers start only after the caches got their initial lists.
func (c simulatedCache) WaitForCacheSync(context.Context) bool { return true }

func (c simulatedCache) Start(context.Context) error {
	return errors.New("controllerruntime: the cache is started by the host")
}

func (c simulatedCache) RemoveInformer(context.Context, client.Object) error {
	return errors.New("controllerruntime: informers are not removed from a simulated cache")
}

// typedInformer is an informer of the process whose handlers get objects of one Go type.
type typedInformer struct {
	*view
	p *process
}

func (i typedInformer) AddEventHandler(
	h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.add(h)
}

func (i typedInformer) AddEventHandlerWithResyncPeriod(h toolscache.ResourceEventHandler,
	_ time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.add(h)
}

func (i typedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler,
	_ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.add(h)
}

func (i typedInformer) add(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	r, err := i.view.informer.AddEventHandler(&typedHandler{v: i.view, h: h, q: i.p.starting})
	return registered{r}, err
}

func (i typedInformer) RemoveEventHandler(r toolscache.ResourceEventHandlerRegistration) error {
	if own, ok := r.(registered); ok {
		r = own.ResourceEventHandlerRegistration
	}
	return i.view.informer.RemoveEventHandler(r)
}

func (i typedInformer) AddIndexers(more toolscache.Indexers) error {
	typed := toolscache.Indexers{}
	for name, values := range more {
		typed[name] = func(stored any) ([]string, error) { return values(i.of(stored)) }
	}
	return i.view.informer.AddIndexers(typed)
}

func (i typedInformer) HasSynced() bool { return i.view.informer.HasSynced() }

func (i typedInformer) HasSyncedChecker() toolscache.DoneChecker {
	return i.view.informer.HasSyncedChecker()
}

func (i typedInformer) IsStopped() bool { return i.view.informer.IsStopped() }

// registered is the registration of a handler. HasSynced returns true, because workers start only after the handler got
// the initial list.
type registered struct {
	toolscache.ResourceEventHandlerRegistration
}

func (registered) HasSynced() bool { return true }

// typedHandler passes objects of one Go type to a handler. After each call it flushes the handler's requests.
type typedHandler struct {
	v *view
	h toolscache.ResourceEventHandler
	q *requests // the queue of the source; nil for a handler that the setup itself added
}

func (t *typedHandler) OnAdd(obj any, initial bool) {
	t.h.OnAdd(t.v.of(obj), initial)
	t.q.flush()
}

func (t *typedHandler) OnUpdate(before, after any) {
	t.h.OnUpdate(t.v.of(before), t.v.of(after))
	t.q.flush()
}

func (t *typedHandler) OnDelete(obj any) {
	if d, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		d.Obj = t.v.of(d.Obj)
		t.h.OnDelete(d)
	} else {
		t.h.OnDelete(t.v.of(obj))
	}
	t.q.flush()
}

// undeclared is the informer in a process without an Env. It has no objects, and ignores handlers and indexers.
type undeclared struct{ ctrlcache.Informer }

func (undeclared) AddIndexers(toolscache.Indexers) error { return nil }

func (undeclared) AddEventHandler(
	toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return registered{}, nil
}
