package host

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// lockedIndexer is a cache as the goroutines of a sync read it: one at a time, as reads leave
// notes.
type lockedIndexer struct {
	*indexer
	mu *sync.Mutex
}

// List returns everything, sorted by key.
func (x lockedIndexer) List() []any {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.List()
}

// ListKeys returns all keys, sorted.
func (x lockedIndexer) ListKeys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.ListKeys()
}

// Get returns the cached version of the object with obj's key.
func (x lockedIndexer) Get(obj any) (any, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.Get(obj)
}

// GetByKey returns the cached object of a key.
func (x lockedIndexer) GetByKey(key string) (any, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.GetByKey(key)
}

// Index returns the objects that share an indexed value with obj.
func (x lockedIndexer) Index(name string, obj any) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.Index(name, obj)
}

// ByIndex returns the objects with an indexed value.
func (x lockedIndexer) ByIndex(name, value string) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.ByIndex(name, value)
}

// IndexKeys returns their keys.
func (x lockedIndexer) IndexKeys(name, value string) ([]string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.IndexKeys(name, value)
}

// ListIndexFuncValues returns the values of an index.
func (x lockedIndexer) ListIndexFuncValues(name string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.ListIndexFuncValues(name)
}

// GetIndexers returns the functions of all indexes.
func (x lockedIndexer) GetIndexers() cache.Indexers {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.GetIndexers()
}

// LastStoreSyncResourceVersion is the newest revision delivered.
func (x lockedIndexer) LastStoreSyncResourceVersion() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.LastStoreSyncResourceVersion()
}
