// Package view keeps what one process can know of the cluster, as the records tell it:
// what its informers hold ([Cache]), what lies in its queue ([Queue]), and what it has
// been shown or was answered of each object ([Known]), with what it knew before that
// during the syncs that are at work ([Journal]).
package view

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Cache is a process's view of one kind, as deliveries made it.
type Cache struct {
	Kind    string
	Entries []Entry // in an order that depends on the history only
	Changed int     // the record of the last delivery
	at      map[Key]int
	owned   map[types.UID]int // entries by ControllerRef, where the laws ask for it
}

// NewCache returns an empty view of a kind.
func NewCache(kind string) *Cache { return &Cache{Kind: kind, at: map[Key]int{}} }

// Entry is one object of a view.
type Entry struct {
	Value any
	Meta  metav1.Object
	Text  string // namespace/name; kept for the kind the process syncs only

	Born  int // the record that brought this incarnation
	Since int // the record that brought it with these owner references
}

// Get returns what the view holds under a name, nil for nothing. The pointer
// is good until the next delivery.
func (c *Cache) Get(namespace, name string) *Entry {
	if i, ok := c.at[Key{namespace, name}]; ok {
		return &c.Entries[i]
	}
	return nil
}

// Owned is how many of the objects that were recounted an owner controls.
func (c *Cache) Owned(owner types.UID) int { return c.owned[owner] }

// Recount takes in that an object of the view has another ControllerRef than it had.
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

// Values are the objects of the view.
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
