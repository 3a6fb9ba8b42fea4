package host

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// What client-go's interface asks of a cache; [indexer] is what is behind it.

// List returns everything, sorted by key.
func (x *indexer) List() []any {
	x.items.Ascend(x.note)
	return x.handAll()
}

// ListKeys returns all keys, sorted.
func (x *indexer) ListKeys() []string {
	x.items.Ascend(x.note)
	return x.keys(x.takeKeys())
}

// keys hands out keys or values of an index, which tell of the cache too.
func (x *indexer) keys(list []string) []string {
	if x.reader != nil {
		x.reader.noteNamed(list)
	}
	return list
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
	values := cache.IndexFunc(cache.MetaNamespaceIndexFunc)
	if name != cache.NamespaceIndex {
		ix := x.find(name)
		if ix == nil {
			return nil, fmt.Errorf("index with name %s does not exist", name)
		}
		values = ix.values
	}
	list, err := values(obj)
	if err != nil {
		return nil, err
	}
	if len(list) == 1 {
		return x.ByIndex(name, list[0])
	}
	union := x.newTree()
	for _, value := range list {
		_ = x.each(name, value, func(v *version) bool { union.ReplaceOrInsert(v); return true })
	}
	union.Ascend(x.note)
	return x.handAll(), nil
}

// ByIndex returns the objects with an indexed value, sorted by key.
func (x *indexer) ByIndex(name, value string) ([]any, error) {
	if err := x.each(name, value, x.note); err != nil {
		return nil, err
	}
	return x.handAll(), nil
}

// IndexKeys returns the keys of the objects with an indexed value, sorted.
func (x *indexer) IndexKeys(name, value string) ([]string, error) {
	if err := x.each(name, value, x.note); err != nil {
		return nil, err
	}
	return x.keys(x.takeKeys()), nil
}

// ListIndexFuncValues returns the values that occur in an index, sorted.
func (x *indexer) ListIndexFuncValues(name string) (values []string) {
	if name == cache.NamespaceIndex {
		x.items.Ascend(func(v *version) bool { values = append(values, v.meta.GetNamespace()); return true })
		slices.Sort(values)
		values = slices.Compact(values)
	} else if ix := x.find(name); ix != nil {
		values = sortedKeys(ix.sets)
	}
	return x.keys(values)
}

// GetIndexers returns the index functions.
func (x *indexer) GetIndexers() cache.Indexers {
	all := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	for _, ix := range x.indexes {
		all[ix.name] = ix.values
	}
	return all
}

// AddIndexers adds indexes; what is cached already is indexed.
func (x *indexer) AddIndexers(more cache.Indexers) error {
	names := sortedKeys(more)
	for _, name := range names {
		if name == cache.NamespaceIndex || x.find(name) != nil {
			return fmt.Errorf("indexer conflict: %s", name)
		}
	}
	for _, name := range names {
		ix := &index{name: name, values: more[name], sets: map[string]*btree.BTreeG[*version]{}}
		x.indexes = append(x.indexes, ix)
		x.items.Ascend(func(v *version) bool { x.enter(ix, v, nil); return true })
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
