package host

import (
	"fmt"
	"strconv"

	"github.com/google/btree"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

// indexer is a cache.Indexer whose lists are sorted by key, so that what a
// controller reads is a function of what it was sent. (client-go's own lists in
// map order.) Every read tells the process, which knows which worker is running.
type indexer struct {
	items    *btree.BTreeG[*version]
	indexers cache.Indexers
	indices  map[string]map[string]*btree.BTreeG[*version]
	rv       uint64
	asked    bool           // somebody looks at rv
	read     func(*version) // called when a read begins, with nil, and for each version handed out; nil outside a process
	named    func([]string) // the same for keys
	probe    version        // for look-ups, so that they do not allocate
	free     *btree.FreeListG[*version]

	exact, abstract uint64 // sums over the items, of mixed digests
}

func byKey(a, b *version) bool { return a.key < b.key }

const degree = 16

// newIndexer returns an empty cache with the namespace index that generated
// listers use. Its trees take their nodes from a common free list.
func newIndexer(free *btree.FreeListG[*version]) *indexer {
	x := &indexer{free: free}
	x.items = x.newTree()
	x.indexers = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	x.indices = map[string]map[string]*btree.BTreeG[*version]{cache.NamespaceIndex: {}}
	return x
}

func (x *indexer) newTree() *btree.BTreeG[*version] {
	return btree.NewWithFreeListG(degree, byKey, x.free)
}

// put stores a version and returns the one it replaced.
func (x *indexer) put(v *version) *version {
	old, had := x.items.ReplaceOrInsert(v)
	if had {
		x.unindex(old)
		x.sum(old, minus)
	}
	x.sum(v, plus)
	//detcheck:ordered each index is its own; the order of updating them does not show
	for name := range x.indexers {
		x.index(v, name)
	}
	if !had {
		return nil
	}
	return old
}

// index enters a version in one index.
func (x *indexer) index(v *version, name string) {
	if name == cache.NamespaceIndex {
		x.enter(v, name, v.meta.GetNamespace())
		return
	}
	values, err := x.indexers[name](v.obj)
	if err != nil {
		panic(fmt.Sprintf("host: index %q failed on %s: %v", name, v.key, err))
	}
	for _, value := range values {
		x.enter(v, name, value)
	}
}

func (x *indexer) enter(v *version, name, value string) {
	set := x.indices[name][value]
	if set == nil {
		set = x.newTree()
		x.indices[name][value] = set
	}
	set.ReplaceOrInsert(v)
}

func (x *indexer) leave(v *version, name, value string) {
	if set := x.indices[name][value]; set != nil {
		set.Delete(v)
		if set.Len() == 0 {
			delete(x.indices[name], value)
		}
	}
}

// drop removes a key and returns the version it had.
func (x *indexer) drop(key string) *version {
	x.probe.key = key
	old, had := x.items.Delete(&x.probe)
	if !had {
		return nil
	}
	x.unindex(old)
	x.sum(old, minus)
	return old
}

// plus and minus are factors of the wrapping sums.
const plus, minus = uint64(1), ^uint64(0)

func (x *indexer) sum(v *version, sign uint64) {
	x.exact += sign * sim.Mix(v.exact)
	x.abstract += sign * sim.Mix(v.abstract)
}

func (x *indexer) unindex(v *version) {
	//detcheck:ordered each index is its own; the order of updating them does not show
	for name, f := range x.indexers {
		if name == cache.NamespaceIndex {
			x.leave(v, name, v.meta.GetNamespace())
			continue
		}
		values, _ := f(v.obj)
		for _, value := range values {
			x.leave(v, name, value)
		}
	}
}

// get returns the version of a key, nil when there is none.
func (x *indexer) get(key string) *version {
	x.probe.key = key
	v, _ := x.items.Get(&x.probe)
	return v
}

func (x *indexer) hand(v *version) any {
	if x.read != nil {
		x.read(v)
	}
	return v.obj
}

// begin tells the process that something is read, found or not.
func (x *indexer) begin() {
	if x.read != nil {
		x.read(nil)
	}
}

func (x *indexer) collect(set *btree.BTreeG[*version]) []any {
	x.begin()
	if set == nil || set.Len() == 0 {
		return nil
	}
	out := make([]any, 0, set.Len())
	set.Ascend(func(v *version) bool {
		out = append(out, x.hand(v))
		return true
	})
	return out
}

// List returns everything, sorted by key.
func (x *indexer) List() []any { return x.collect(x.items) }

// ListKeys returns all keys, sorted.
func (x *indexer) ListKeys() []string { return x.keys(keysOf(x.items)) }

// keys hands out keys or values of an index, which tell of the cache too.
func (x *indexer) keys(list []string) []string {
	if x.named != nil {
		x.named(list)
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
func (x *indexer) GetIndexers() cache.Indexers { return x.indexers }

// AddIndexers adds indexes; what is cached already is indexed.
func (x *indexer) AddIndexers(more cache.Indexers) error {
	for _, name := range sortedKeys(more) {
		if x.indexers[name] != nil {
			return fmt.Errorf("indexer conflict: %s", name)
		}
	}
	for _, name := range sortedKeys(more) {
		x.indexers[name] = more[name]
		x.indices[name] = map[string]*btree.BTreeG[*version]{}
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
