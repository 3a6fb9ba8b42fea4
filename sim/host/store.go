package host

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// What client-go's interface asks of a cache; [indexer] is what is behind it.

// List returns everything, sorted by key.
func (x *indexer) List() []any { return x.collect(x.items) }

// ListKeys returns all keys, sorted.
func (x *indexer) ListKeys() []string { return x.keys(keysOf(x.items)) }

// keys hands out keys or values of an index, which tell of the cache too.
func (x *indexer) keys(list []string) []string {
	if x.reader != nil {
		x.reader.noteNamed(list)
	}
	return list
}

func keysOf(set *btree.BTreeG[*version]) []string {
	if set == nil {
		return nil
	}
	out := make([]string, 0, set.Len())
	set.Ascend(func(v *version) bool {
		out = append(out, v.key)
		return true
	})
	return out
}

// Get returns the cached version of the object with obj's key.
func (x *indexer) Get(obj any) (any, bool, error) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

// GetByKey returns the cached object of a key.
func (x *indexer) GetByKey(key string) (any, bool, error) {
	x.begin()
	v := x.get(key)
	if v == nil {
		return nil, false, nil
	}
	return x.hand(v), true, nil
}

// Index returns the objects that share an indexed value with obj.
func (x *indexer) Index(name string, obj any) ([]any, error) {
	f := x.indexers[name]
	if f == nil {
		return nil, fmt.Errorf("index with name %s does not exist", name)
	}
	values, err := f(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return x.collect(x.indices[name][values[0]]), nil
	}
	union := x.newTree()
	for _, value := range values {
		if set := x.indices[name][value]; set != nil {
			set.Ascend(func(v *version) bool { union.ReplaceOrInsert(v); return true })
		}
	}
	return x.collect(union), nil
}

// ByIndex returns the objects with an indexed value, sorted by key.
func (x *indexer) ByIndex(name, value string) ([]any, error) {
	if x.indexers[name] == nil {
		return nil, fmt.Errorf("index with name %s does not exist", name)
	}
	return x.collect(x.indices[name][value]), nil
}

// IndexKeys returns the keys of the objects with an indexed value, sorted.
func (x *indexer) IndexKeys(name, value string) ([]string, error) {
	if x.indexers[name] == nil {
		return nil, fmt.Errorf("index with name %s does not exist", name)
	}
	return x.keys(keysOf(x.indices[name][value])), nil
}

// ListIndexFuncValues returns the values that occur in an index, sorted.
func (x *indexer) ListIndexFuncValues(name string) []string {
	return x.keys(sortedKeys(x.indices[name]))
}

// GetIndexers returns the index functions.
func (x *indexer) GetIndexers() cache.Indexers { return maps.Clone(x.indexers) }

// AddIndexers adds indexes; what is cached already is indexed.
func (x *indexer) AddIndexers(more cache.Indexers) error {
	for _, name := range sortedKeys(more) {
		if x.indexers[name] != nil {
			return fmt.Errorf("indexer conflict: %s", name)
		}
	}
	x.indexers = maps.Clone(x.indexers)
	for _, name := range sortedKeys(more) {
		x.indexers[name] = more[name]
		x.items.Ascend(func(v *version) bool { x.index(v, name); return true })
	}
	return nil
}

// LastStoreSyncResourceVersion is the newest revision delivered; the 1.36
// consistency store reads it.
func (x *indexer) LastStoreSyncResourceVersion() string {
	x.asked = true
	return x.keys([]string{strconv.FormatUint(x.rv, 10)})[0]
}

// Bookmark records that the store is as new as rv.
func (x *indexer) Bookmark(rv string) {
	if n, err := strconv.ParseUint(rv, 10, 64); err == nil {
		x.rv = max(x.rv, n)
	}
}

// Resync does nothing: see [Process.Resync].
func (x *indexer) Resync() error { return nil }

// Add, Update, Delete and Replace change the cache behind the watch's back; a
// controller that does so has a bug, which the host does not hide.
func (x *indexer) Add(obj any) error           { return x.meddled("Add", obj) }
func (x *indexer) Update(obj any) error        { return x.meddled("Update", obj) }
func (x *indexer) Delete(obj any) error        { return x.meddled("Delete", obj) }
func (x *indexer) Replace([]any, string) error { return x.meddled("Replace", nil) }
func (x *indexer) meddled(op string, o any) error {
	name := ""
	if m, ok := o.(runtime.Object); ok {
		name = " " + m.(metav1.Object).GetName()
	}
	return fmt.Errorf("host: %s%s: a controller may not write to its informer's cache", op, name)
}
