// Package view keeps what the records say that one process can know: its informers ([Cache]), its queue ([Queue]), the
// last version of each object that it was shown or received in an answer ([Known]), and older knowledge that a current
// reconcile may still use ([Journal]).
package view

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Cache is a process's view of one kind, built from deliveries.
type Cache struct {
	Kind    string
	Entries []Entry // in an order that depends only on the history
	Changed int     // the record of the last delivery
	at      map[Key]int
	owned   map[types.UID]int // entries by ControllerRef, for the kinds that laws count
}

// NewCache returns an empty view of a kind.
func NewCache(kind string) *Cache { return &Cache{Kind: kind, at: map[Key]int{}} }

// Entry is one object of a view.
type Entry struct {
	Value any
	Meta  metav1.Object
	Text  string // namespace/name; set only for the kind that the process reconciles

	Born  int // the record that delivered this incarnation
	Since int // the record that delivered these owner references
}

// Get returns the entry of that name, or nil. The pointer is valid until the next delivery.
func (c *Cache) Get(namespace, name string) *Entry {
	if i, ok := c.at[Key{namespace, name}]; ok {
		return &c.Entries[i]
	}
	return nil
}

// Owned returns how many of the recounted objects an owner controls.
func (c *Cache) Owned(owner types.UID) int { return c.owned[owner] }

// Recount notes a changed ControllerRef of an object in the view.
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

// Values returns the objects of the view.
func (c *Cache) Values() []runtime.Object {
	all := make([]runtime.Object, len(c.Entries))
	for i := range c.Entries {
		all[i], _ = c.Entries[i].Value.(runtime.Object)
	}
	return all
}

// Clear forgets what was delivered.
func (c *Cache) Clear() {
	clear(c.Entries)
	c.Entries, c.Changed = c.Entries[:0], 0
	clear(c.at)
	clear(c.owned)
}

// Fold applies a delivery and returns what the view held before and holds now.
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

// Journal holds what a process knew about objects before changes during current reconciles. It tells what a worker may
// have used at any moment of its reconcile.
type Journal struct {
	Entries []Glimpse
	kept    int    // entries left when it was last cut
	sorted  Sorted // valid until the next Since
}

// Glimpse holds what a process knew about an object before a change during a reconcile.
type Glimpse struct {
	Kind    string
	UID     types.UID
	Owner   types.UID
	Value   any
	Cached  any
	Version uint64
	Record  int // the record of the change
}

// LongJournal is the length at which a journal is cut to the entries that current reconciles may have seen, and again
// whenever it has doubled. If several workers take turns, it never becomes empty.
const LongJournal = 256

// Long reports whether it is time to cut.
func (j *Journal) Long() bool { return len(j.Entries) >= max(LongJournal, 2*j.kept) }

// Cut drops the entries of changes before a record.
func (j *Journal) Cut(record int) {
	j.Entries = slices.DeleteFunc(j.Entries, func(g Glimpse) bool { return g.Record < record })
	j.kept = len(j.Entries)
}

// Clear drops all entries.
func (j *Journal) Clear() {
	clear(j.Entries)
	j.Entries, j.kept = j.Entries[:0], 0
}

// Note keeps the knowledge about an object that was valid until a record.
func (j *Journal) Note(e *Sight, record int) {
	j.Entries = append(j.Entries, Glimpse{e.Kind, e.UID, e.Owner, e.Value, e.Cached, e.Version, record})
}

// Sorted lists the entries of a journal by object.
type Sorted struct {
	first map[types.UID]int
	next  []int
}

// Since lists the entries from a record on. The list is valid until the next call.
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
