package host

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/tools/cache"
)

// HasSynced reports whether the handler has seen the initial list.
func (r *registration) HasSynced() bool { return r.informer.synced }

// HasSyncedChecker is HasSynced as client-go's newer form.
func (r *registration) HasSyncedChecker() cache.DoneChecker { return r.informer.HasSyncedChecker() }

// AddEventHandler registers a handler; it is told of what is cached already.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	r := &registration{informer: i, handler: h}
	i.handlers = append(i.handlers, r)
	if i.synced {
		for _, o := range i.cache.List() {
			h.OnAdd(o, true)
		}
	}
	return r, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: resyncs are steps of the
// scenario ([Process.Resync]), not timers.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler,
	_ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler,
	_ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// RemoveEventHandler unregisters a handler.
func (i *informer) RemoveEventHandler(h cache.ResourceEventHandlerRegistration) error {
	r, ok := h.(*registration)
	if !ok || r.informer != i {
		return errors.New("host: not a handler of this informer")
	}
	r.gone = true
	return nil
}

// GetStore and GetIndexer return the cache.
func (i *informer) GetStore() cache.Store { return i.GetIndexer() }
func (i *informer) GetIndexer() cache.Indexer {
	if i.process.concurrent() {
		return lockedIndexer{i.cache, &i.process.reads}
	}
	return i.cache
}

// AddIndexers adds indexes to the cache.
func (i *informer) AddIndexers(x cache.Indexers) error { return i.cache.AddIndexers(x) }

// HasSynced reports whether the initial list was delivered.
func (i *informer) HasSynced() bool { return i.synced }

// LastSyncResourceVersion is the newest revision delivered.
func (i *informer) LastSyncResourceVersion() string { return i.cache.LastStoreSyncResourceVersion() }

// Run and RunWithContext have nothing to do: the scheduler delivers.
func (i *informer) Run(<-chan struct{})            {}
func (i *informer) RunWithContext(context.Context) {}

// IsStopped reports whether the process is down.
func (i *informer) IsStopped() bool { return i.process.Down }

// GetController returns a controller that only knows whether it has synced.
func (i *informer) GetController() cache.Controller { return controllerStub{i} }

// HasSyncedChecker returns a checker whose channel is closed once synced.
func (i *informer) HasSyncedChecker() cache.DoneChecker { return doneChecker{i} }

// The following have no meaning without a connection; they are accepted as the
// interface demands, except a transform, which would change what is cached.
func (i *informer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }
func (i *informer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}
func (i *informer) SetTransform(cache.TransformFunc) error {
	return errors.New("host: transforms are not supported: cached objects are the server's own versions")
}

type controllerStub struct{ i *informer }

func (c controllerStub) Run(<-chan struct{})                 {}
func (c controllerStub) RunWithContext(context.Context)      {}
func (c controllerStub) HasSynced() bool                     { return c.i.synced }
func (c controllerStub) HasSyncedChecker() cache.DoneChecker { return doneChecker{c.i} }
func (c controllerStub) LastSyncResourceVersion() string     { return c.i.LastSyncResourceVersion() }

type doneChecker struct{ i *informer }

func (d doneChecker) Name() string { return d.i.kind.Resource }
func (d doneChecker) Done() <-chan struct{} {
	ch := make(chan struct{})
	if d.i.synced {
		close(ch)
	}
	return ch
}
