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

// The following methods implement client-go's cache.Indexer. Lists are sorted by key.

func (x *indexer) List() []any {
	defer x.lock()()
	x.items.Ascend(x.note)
	return x.handAll()
}

func (x *indexer) ListKeys() []string {
	defer x.lock()()
	x.items.Ascend(x.note)
	return x.keys(x.takeKeys())
}

// lock serializes reads by the goroutines of a reconcile, because each read is recorded.
func (x *indexer) lock() (unlock func()) {
	if x.reads == nil {
		return func() {}
	}
	x.reads.Lock()
	return x.reads.Unlock
}

// keys returns its argument, and records it as read from the cache.
func (x *indexer) keys(list []string) []string {
	if x.reader != nil {
		x.reader.noteNamed(list)
	}
	return list
}

func (x *indexer) Get(obj any) (any, bool, error) {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return x.GetByKey(key)
}

func (x *indexer) GetByKey(key string) (any, bool, error) {
	defer x.lock()()
	x.begin()
	v := x.get(key)
	if v == nil {
		return nil, false, nil
	}
	return x.hand(v), true, nil
}

// Index returns the objects that share a value of the index with obj.
func (x *indexer) Index(name string, obj any) ([]any, error) {
	defer x.lock()()
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
		err := x.each(name, list[0], x.note)
		return x.handAll(), err
	}
	union := x.newTree()
	for _, value := range list {
		_ = x.each(name, value, func(v *version) bool { union.ReplaceOrInsert(v); return true })
	}
	union.Ascend(x.note)
	return x.handAll(), nil
}

func (x *indexer) ByIndex(name, value string) ([]any, error) {
	defer x.lock()()
	if err := x.each(name, value, x.note); err != nil {
		return nil, err
	}
	return x.handAll(), nil
}

func (x *indexer) IndexKeys(name, value string) ([]string, error) {
	defer x.lock()()
	if err := x.each(name, value, x.note); err != nil {
		return nil, err
	}
	return x.keys(x.takeKeys()), nil
}

func (x *indexer) ListIndexFuncValues(name string) (values []string) {
	defer x.lock()()
	if name == cache.NamespaceIndex {
		x.items.Ascend(func(v *version) bool { values = append(values, v.meta.GetNamespace()); return true })
		slices.Sort(values)
		values = slices.Compact(values)
	} else if ix := x.find(name); ix != nil {
		values = sortedKeys(ix.sets)
	}
	return x.keys(values)
}

func (x *indexer) GetIndexers() cache.Indexers {
	defer x.lock()()
	all := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	for _, ix := range x.indexes {
		all[ix.name] = ix.values
	}
	return all
}

// AddIndexers adds indexes, even if the cache contains objects already.
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

// LastStoreSyncResourceVersion returns the newest revision that was delivered to the cache. The consistency store of
// Kubernetes 1.36 uses it.
func (x *indexer) LastStoreSyncResourceVersion() string {
	defer x.lock()()
	x.asked = true
	return x.keys([]string{strconv.FormatUint(x.rv, 10)})[0]
}

func (x *indexer) Bookmark(rv string) {
	if n, err := strconv.ParseUint(rv, 10, 64); err == nil {
		x.rv = max(x.rv, n)
	}
}

// Resync does nothing: see [Process.Resync].
func (x *indexer) Resync() error { return nil }

// The methods that write return an error, because a write to an informer's cache is a bug of the controller.
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
