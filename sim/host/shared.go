package host

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/tools/cache"
)

func (r *registration) HasSynced() bool { return r.informer.synced }

func (r *registration) HasSyncedChecker() cache.DoneChecker { return r.informer.HasSyncedChecker() }

// AddEventHandler registers a handler. If the informer has synced, it calls the handler for each cached object.
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

// AddEventHandlerWithResyncPeriod ignores the period. For resyncs, see [Process.Resync] and resyncLater.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler,
	_ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler,
	_ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *informer) RemoveEventHandler(h cache.ResourceEventHandlerRegistration) error {
	r, ok := h.(*registration)
	if !ok || r.informer != i {
		return errors.New("host: not a handler of this informer")
	}
	r.gone = true
	return nil
}

func (i *informer) GetStore() cache.Store     { return i.cache }
func (i *informer) GetIndexer() cache.Indexer { return i.cache }

func (i *informer) AddIndexers(x cache.Indexers) error { return i.cache.AddIndexers(x) }

func (i *informer) HasSynced() bool { return i.synced }

// LastSyncResourceVersion returns the newest revision that was delivered to the cache.
func (i *informer) LastSyncResourceVersion() string { return i.cache.LastStoreSyncResourceVersion() }

// Run and RunWithContext do nothing, because the scheduler delivers events.
func (i *informer) Run(<-chan struct{})            {}
func (i *informer) RunWithContext(context.Context) {}

func (i *informer) IsStopped() bool { return i.process.Down }

// GetController returns a controller that only reports what the informer has received. Its Run does nothing.
func (i *informer) GetController() cache.Controller { return controllerStub{i} }

func (i *informer) HasSyncedChecker() cache.DoneChecker { return doneChecker{i} }

// This informer has no connection that can fail, so it ignores error handlers. SetTransform returns an error, because
// a transform would change the cached objects.
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
