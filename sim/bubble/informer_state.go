package bubble

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

func (i *informer) GetStore() cache.Store { return i.cache }

func (i *informer) GetIndexer() cache.Indexer { return i.cache }

func (i *informer) AddIndexers(by cache.Indexers) error { return i.cache.AddIndexers(by) }

func (i *informer) HasSynced() bool { return i.synced.isOpen() }

func (i *informer) HasSyncedChecker() cache.DoneChecker { return i.synced }

func (i *informer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// LastSyncResourceVersion returns the last version read; "" before the first.
func (i *informer) LastSyncResourceVersion() string {
	i.mu.Lock()
	reads := i.reads
	i.mu.Unlock()
	if reads == nil {
		return ""
	}
	return reads.LastSyncResourceVersion()
}

func (i *informer) SetTransform(t cache.TransformFunc) error {
	return i.set(func() { i.transform = t })
}

func (i *informer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	return i.set(func() { i.config.WatchErrorHandler = h })
}

func (i *informer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	return i.set(func() { i.config.WatchErrorHandlerWithContext = h })
}

// set makes a change that a running informer does not allow.
func (i *informer) set(f func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reads != nil {
		return errStarted
	}
	f()
	return nil
}

// GetController returns the informer as a controller that cannot be run.
func (i *informer) GetController() cache.Controller { return reader{i} }

// reader is a controller whose Run methods do nothing, since its informer runs.
type reader struct{ *informer }

func (reader) Run(<-chan struct{}) {}

func (reader) RunWithContext(context.Context) {}
