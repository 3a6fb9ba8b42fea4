package bubble

import (
	"context"

	"k8s.io/client-go/tools/cache"
)

// GetStore is its cache.
func (i *informer) GetStore() cache.Store { return i.cache }

// GetIndexer is its cache.
func (i *informer) GetIndexer() cache.Indexer { return i.cache }

// AddIndexers adds indexes.
func (i *informer) AddIndexers(by cache.Indexers) error { return i.cache.AddIndexers(by) }

// HasSynced reports whether all that the first list had is in the cache.
func (i *informer) HasSynced() bool { return i.synced.isOpen() }

// HasSyncedChecker is HasSynced for who waits.
func (i *informer) HasSyncedChecker() cache.DoneChecker { return i.synced }

// IsStopped reports whether it ran and runs no more.
func (i *informer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// LastSyncResourceVersion is what it read last; "" before it has read.
func (i *informer) LastSyncResourceVersion() string {
	i.mu.Lock()
	reads := i.reads
	i.mu.Unlock()
	if reads == nil {
		return ""
	}
	return reads.LastSyncResourceVersion()
}

// SetTransform has objects changed before they are stored.
func (i *informer) SetTransform(t cache.TransformFunc) error {
	return i.set(func() { i.transform = t })
}

// SetWatchErrorHandler has somebody told of watches that break off.
func (i *informer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	return i.set(func() { i.config.WatchErrorHandler = h })
}

// SetWatchErrorHandlerWithContext is SetWatchErrorHandler.
func (i *informer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	return i.set(func() { i.config.WatchErrorHandlerWithContext = h })
}

// set changes what must not change while it runs.
func (i *informer) set(f func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reads != nil {
		return errStarted
	}
	f()
	return nil
}

// GetController is what reads for it, as far as others may use that.
func (i *informer) GetController() cache.Controller { return reader{i} }

// reader cannot be run: its informer is.
type reader struct{ *informer }

// Run does nothing.
func (reader) Run(<-chan struct{}) {}

// RunWithContext does nothing.
func (reader) RunWithContext(context.Context) {}
