// Package view holds what one process can know according to the records. [Cache] holds the content of an informer, and
// [Queue] the keys of the queue. [Known] holds the last version of each object that the process received in a delivery
// or an answer. [Journal] holds older versions that a current reconcile may still use.
package view

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Cache holds a process's cached objects of one kind, built from deliveries.
type Cache struct {
	Kind    string
	Entries []Entry // in an order that depends only on the history
	Changed int     // record index of the last delivery; 0 for none
	Live    bool    // the process has read the kind from the server
	at      map[Key]int
	owned   map[types.UID]int // UID of an owner -> number of entries that it controls, see Recount
}

// NewCache returns an empty cache of a kind.
func NewCache(kind string) *Cache { return &Cache{Kind: kind, at: map[Key]int{}} }

// Entry is one object of a cache.
type Entry struct {
	Value any
	Meta  metav1.Object
	Text  string // the key, such as "ns/web"; set only for the kind that the process reconciles

	Born  int // index of the record that delivered this UID
	Since int // index of the record that first delivered this UID with the current owner references
}

// Get returns the entry of that name, or nil. The pointer is valid until the next delivery.
func (c *Cache) Get(namespace, name string) *Entry {
	if i, ok := c.at[Key{namespace, name}]; ok {
		return &c.Entries[i]
	}
	return nil
}

// Owned returns how many objects an owner controls, according to [Cache.Recount].
func (c *Cache) Owned(owner types.UID) int { return c.owned[owner] }

// Recount records that the ControllerRef of a cached object has changed.
func (c *Cache) Recount(old, now *metav1.OwnerReference) {
	if c.owned == nil {
		c.owned = map[types.UID]int{}
	}
	if old != nil {
		if c.owned[old.UID]--; c.owned[old.UID] <= 0 {
			delete(c.owned, old.UID)
		}
	}
	if now != nil {
		c.owned[now.UID]++
	}
}

// Values returns the objects of the cache.
func (c *Cache) Values() []runtime.Object {
	all := make([]runtime.Object, len(c.Entries))
	for i := range c.Entries {
		all[i], _ = c.Entries[i].Value.(runtime.Object)
	}
	return all
}

// Clear removes all objects.
func (c *Cache) Clear() {
	clear(c.Entries)
	c.Entries, c.Changed, c.Live = c.Entries[:0], 0, false
	clear(c.at)
	clear(c.owned)
}

// Fold applies a delivery. It returns the cached object before and after the delivery; nil if it does not exist. If
// keyed is set, a new entry gets its Text.
func (c *Cache) Fold(r *sim.Record, keyed bool) (before, after metav1.Object) {
	n := Key{r.Object.Namespace, r.Object.Name}
	c.Changed = r.Index
	after = meta.Of(r.After)
	i, ok := c.at[n]
	if !ok {
		if after != nil {
			e := Entry{Value: r.After, Meta: after, Born: r.Index, Since: r.Index}
			if keyed {
				e.Text = r.Object.Key()
			}
			c.at[n] = len(c.Entries)
			c.Entries = append(c.Entries, e)
		}
		return nil, after
	}
	before = c.Entries[i].Meta
	if after != nil {
		e := &c.Entries[i]
		if before.GetUID() != after.GetUID() ||
			!meta.SameOwners(before.GetOwnerReferences(), after.GetOwnerReferences()) {
			e.Since = r.Index
		}
		if before.GetUID() != after.GetUID() {
			e.Born = r.Index
		}
		e.Value, e.Meta = r.After, after
		return before, after
	}
	c.drop(n, i)
	return before, nil
}

func (c *Cache) drop(n Key, i int) {
	last := len(c.Entries) - 1
	if i != last {
		moved := c.Entries[last]
		c.Entries[i] = moved
		c.at[Key{moved.Meta.GetNamespace(), moved.Meta.GetName()}] = i
	}
	c.Entries[last] = Entry{}
	c.Entries = c.Entries[:last]
	delete(c.at, n)
}

// Journal holds the earlier versions of objects that changed during current reconciles. The entries show what a worker
// may have known at any moment of its reconcile.
type Journal struct {
	Entries []Glimpse
	kept    int    // number of entries after the last Cut
	sorted  Sorted // the last result of Since
}

// Glimpse holds what a process knew about an object before a change during a reconcile.
type Glimpse struct {
	Kind    string
	UID     types.UID
	Owner   types.UID
	Value   any
	Cached  any
	Version uint64
	Record  int // index of the record of the change
}

// LongJournal is the length at which a journal is cut first. Later, it is cut whenever its length has doubled. A cut
// drops the entries that no current reconcile can use. Without cuts, the journal could grow without end.
const LongJournal = 256

// Long reports whether the journal should be cut.
func (j *Journal) Long() bool { return len(j.Entries) >= max(LongJournal, 2*j.kept) }

// Cut drops the entries of changes before this record.
func (j *Journal) Cut(record int) {
	j.Entries = slices.DeleteFunc(j.Entries, func(g Glimpse) bool { return g.Record < record })
	j.kept = len(j.Entries)
}

// Clear drops all entries.
func (j *Journal) Clear() {
	clear(j.Entries)
	j.Entries, j.kept = j.Entries[:0], 0
}

// Note adds what the process knew about an object until this record.
func (j *Journal) Note(e *Sight, record int) {
	j.Entries = append(j.Entries, Glimpse{e.Kind, e.UID, e.Owner, e.Value, e.Cached, e.Version, record})
}

// Sorted is an index of a journal's entries by object.
type Sorted struct {
	first map[types.UID]int
	next  []int
}

// Since returns an index of the entries from this record on. It is valid until the next call.
func (j *Journal) Since(record int) *Sorted {
	s := &j.sorted
	clear(s.first)
	s.next = append(s.next[:0], make([]int, len(j.Entries))...)
	for i := len(j.Entries) - 1; i >= 0; i-- {
		if j.Entries[i].Record < record {
			continue
		}
		if s.first == nil {
			s.first = map[types.UID]int{}
		}
		uid := j.Entries[i].UID
		s.next[i] = s.First(uid)
		s.first[uid] = i
	}
	return s
}

// First returns the index of the first entry of an object, or -1.
func (s *Sorted) First(uid types.UID) int {
	if i, ok := s.first[uid]; ok {
		return i
	}
	return -1
}

// Next returns the index of the next entry of the same object, or -1.
func (s *Sorted) Next(entry int) int { return s.next[entry] }
