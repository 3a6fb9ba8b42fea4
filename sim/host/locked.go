package host

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// lockedIndexer is a cache for the goroutines of a sync. Reads leave notes, so they are serialized.
type lockedIndexer struct {
	*indexer
	mu *sync.Mutex
}

func (x lockedIndexer) List() []any {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.List()
}

func (x lockedIndexer) ListKeys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.ListKeys()
}

func (x lockedIndexer) Get(obj any) (any, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.Get(obj)
}

func (x lockedIndexer) GetByKey(key string) (any, bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.GetByKey(key)
}

func (x lockedIndexer) Index(name string, obj any) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.Index(name, obj)
}

func (x lockedIndexer) ByIndex(name, value string) ([]any, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.ByIndex(name, value)
}

func (x lockedIndexer) IndexKeys(name, value string) ([]string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.IndexKeys(name, value)
}

func (x lockedIndexer) ListIndexFuncValues(name string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.ListIndexFuncValues(name)
}

func (x lockedIndexer) GetIndexers() cache.Indexers {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.GetIndexers()
}

func (x lockedIndexer) LastStoreSyncResourceVersion() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.indexer.LastStoreSyncResourceVersion()
}
