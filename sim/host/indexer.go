package host

import (
	"fmt"

	"github.com/google/btree"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

// indexer is a cache.Indexer whose lists are sorted by key, so that what a
// controller reads is a function of what it was sent. (client-go's own lists in
// map order.) Every read tells the process, which knows which worker is running.
type indexer struct {
	items    *btree.BTreeG[*version] // nothing until something is put
	indexers cache.Indexers          // justNamespaces until there are more
	indices  map[string]map[string]*btree.BTreeG[*version]
	rv       uint64
	asked    bool    // somebody looks at rv
	reader   reader  // nil outside a process
	probe    version // for look-ups, so that they do not allocate
	free     *btree.FreeListG[*version]

	exact, abstract uint64 // sums over the items, of mixed digests
}

// reader is told what is read: that a read begins, by nil, each version that is handed
// out, and keys that are.
type reader interface {
	noteRead(v *version)
	noteNamed(keys []string)
}

// What caches have in common that hold nothing and have the namespace index alone, as most
// do of a process that watches every kind. Neither is ever written.
var (
	nothing        = btree.NewG(degree, byKey)
	justNamespaces = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
)

func byKey(a, b *version) bool { return a.key < b.key }

const degree = 16

// newIndexer returns an empty cache with the namespace index that generated
// listers use. Its trees take their nodes from a common free list.
func newIndexer(free *btree.FreeListG[*version]) *indexer {
	return &indexer{free: free, items: nothing, indexers: justNamespaces}
}

func (x *indexer) newTree() *btree.BTreeG[*version] {
	return btree.NewWithFreeListG(degree, byKey, x.free)
}

// put stores a version and returns the one it replaced.
func (x *indexer) put(v *version) *version {
	if x.items == nothing {
		x.items = x.newTree()
	}
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
		x.make(name)[value] = set
	}
	set.ReplaceOrInsert(v)
}

// make returns the index of a name, to be written.
func (x *indexer) make(name string) map[string]*btree.BTreeG[*version] {
	index := x.indices[name]
	if index == nil {
		if x.indices == nil {
			x.indices = map[string]map[string]*btree.BTreeG[*version]{}
		}
		index = map[string]*btree.BTreeG[*version]{}
		x.indices[name] = index
	}
	return index
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
	if x.items == nothing {
		return nil
	}
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
	if x.reader != nil {
		x.reader.noteRead(v)
	}
	return v.obj
}

// begin tells the process that something is read, found or not.
func (x *indexer) begin() {
	if x.reader != nil {
		x.reader.noteRead(nil)
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
