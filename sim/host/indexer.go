package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/btree"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
)

// indexer is a cache.Indexer that lists in the order of keys, so that a controller's reads depend only on its events.
// client-go's own lists are in map order. The indexer reports every read to the process.
type indexer struct {
	items   *btree.BTreeG[*version] // cached versions by key; the variable nothing until the first put
	indexes []*index                // without the namespace index: the order of keys replaces it
	rv      uint64                  // the resource version that the cache has reached
	asked   bool                    // a controller has read rv
	show    func(*version) *version // converts a version to the form that readers get; nil if none is needed
	reader  reader                  // is notified of each read; nil outside a process
	probe   version                 // the search key of look-ups, reused to avoid allocations
	found   []*version              // the result of the current list; its memory is reused
	prefix  string                  // the key prefix of the last namespace that was listed
	free    *btree.FreeListG[*version]
	reads   *sync.Mutex // guards reads if reconciles may start goroutines; otherwise nil

	exact, abstract uint64 // sums of the digests of the items
}

// reader is notified of reads. At the beginning of a read, the cache calls noteRead(nil). Then it calls noteRead for
// each returned version, or noteNamed with the returned keys.
type reader interface {
	noteRead(v *version)
	noteNamed(keys []string)
}

// index holds cached versions by the values of an index function.
type index struct {
	name   string
	values cache.IndexFunc
	sets   map[string]*btree.BTreeG[*version]
}

// nothing is the tree of every cache that never had an object. All these caches share it, so it is never changed.
var nothing = btree.NewG(degree, byKey)

func byKey(a, b *version) bool { return a.key < b.key }

const degree = 16

// newIndexer returns an empty cache. Its trees take their nodes from free.
func newIndexer(free *btree.FreeListG[*version]) *indexer {
	return &indexer{free: free, items: nothing}
}

func (x *indexer) newTree() *btree.BTreeG[*version] {
	return btree.NewWithFreeListG(degree, byKey, x.free)
}

func (x *indexer) put(v *version) *version {
	if x.items == nothing {
		x.items = x.newTree()
	}
	old, had := x.items.ReplaceOrInsert(v)
	if had {
		x.sum(old, minus)
	}
	x.sum(v, plus)
	for _, ix := range x.indexes {
		x.enter(ix, v, old)
	}
	if !had {
		return nil
	}
	return old
}

// enter adds v to an index. If old is not nil, enter removes old, an earlier version of the object, from the index.
func (x *indexer) enter(ix *index, v, old *version) {
	values := x.valuesOf(ix, v)
	if old != nil {
		for _, value := range x.valuesOf(ix, old) {
			if !slices.Contains(values, value) {
				ix.leave(old, value)
			}
		}
	}
	for _, value := range values {
		set := ix.sets[value]
		if set == nil {
			set = x.newTree()
			ix.sets[value] = set
		}
		set.ReplaceOrInsert(v)
	}
}

func (x *indexer) valuesOf(ix *index, v *version) []string {
	values, err := ix.values(x.shown(v).obj)
	if err != nil {
		panic(fmt.Sprintf("host: index %q failed on %s: %v", ix.name, v.key, err))
	}
	return values
}

func (ix *index) leave(v *version, value string) {
	if set := ix.sets[value]; set != nil {
		set.Delete(v)
		if set.Len() == 0 {
			delete(ix.sets, value)
		}
	}
}

func (x *indexer) drop(key string) *version {
	if x.items == nothing {
		return nil
	}
	x.probe.key = key
	old, had := x.items.Delete(&x.probe)
	if !had {
		return nil
	}
	for _, ix := range x.indexes {
		for _, value := range x.valuesOf(ix, old) {
			ix.leave(old, value)
		}
	}
	x.sum(old, minus)
	return old
}

// plus and minus are factors: adding plus*d adds a digest d to a sum, and adding minus*d subtracts d, modulo 2^64.
const plus, minus = uint64(1), ^uint64(0)

func (x *indexer) sum(v *version, sign uint64) {
	x.exact += sign * sim.Mix(v.exact)
	x.abstract += sign * sim.Mix(v.abstract)
}

func (x *indexer) get(key string) *version {
	x.probe.key = key
	v, _ := x.items.Get(&x.probe)
	return v
}

func (x *indexer) shown(v *version) *version {
	if x.show == nil || v == nil {
		return v
	}
	return x.show(v)
}

func (x *indexer) hand(v *version) any {
	v = x.shown(v)
	if x.reader != nil {
		x.reader.noteRead(v)
	}
	return v.obj
}

func (x *indexer) note(v *version) bool {
	x.found = append(x.found, v)
	return true
}

func (x *indexer) handAll() []any {
	x.begin()
	out := make([]any, len(x.found))
	for i, v := range x.found {
		out[i] = x.hand(v)
	}
	x.forget()
	return out
}

func (x *indexer) takeKeys() []string {
	out := make([]string, len(x.found))
	for i, v := range x.found {
		out[i] = v.key
	}
	x.forget()
	return out
}

func (x *indexer) forget() {
	clear(x.found)
	x.found = x.found[:0]
}

// begin records the start of a read, because a read that finds nothing is also a read.
func (x *indexer) begin() {
	if x.reader != nil {
		x.reader.noteRead(nil)
	}
}

func (x *indexer) find(name string) *index {
	for _, ix := range x.indexes {
		if ix.name == name {
			return ix
		}
	}
	return nil
}

// within calls f for the versions of a namespace in key order. Cluster-scoped objects are in the namespace "".
func (x *indexer) within(namespace string, f func(*version) bool) {
	if namespace == "" {
		if first, ok := x.items.Min(); ok && first.meta.GetNamespace() == "" {
			x.items.Ascend(f)
		}
		return
	}
	if n := len(namespace); len(x.prefix) != n+1 || x.prefix[:n] != namespace {
		x.prefix = namespace + "/"
	}
	prefix := x.prefix
	x.probe.key = prefix
	x.items.AscendGreaterOrEqual(&x.probe, func(v *version) bool { return strings.HasPrefix(v.key, prefix) && f(v) })
}

// each calls f for the versions that have this value in an index, in key order.
func (x *indexer) each(name, value string, f func(*version) bool) error {
	if name == cache.NamespaceIndex {
		x.within(value, f)
		return nil
	}
	ix := x.find(name)
	if ix == nil {
		return fmt.Errorf("index with name %s does not exist", name)
	}
	if set := ix.sets[value]; set != nil {
		set.Ascend(f)
	}
	return nil
}
