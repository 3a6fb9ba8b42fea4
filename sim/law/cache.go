package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// Cache is a process's view of one kind, as deliveries made it.
type Cache struct {
	kind    string
	entries []Cached
	at      map[nsName]int
	owned   map[types.UID]int // cached objects by ControllerRef, where the laws ask for it
}

// Cached is one object of a view.
type Cached struct {
	Value any
	Meta  metav1.Object
	Key   string // namespace/name; kept for the kind the process syncs only

	born  int // the record that brought this incarnation
	since int // the record that brought it with these owner references
}

// Get returns what the view holds under a name, nil for nothing. The pointer
// is good until the next delivery.
func (c *Cache) Get(namespace, name string) *Cached {
	if i, ok := c.at[nsName{namespace, name}]; ok {
		return &c.entries[i]
	}
	return nil
}

// All lists the view, in an order that depends on the history only.
func (c *Cache) All() []Cached { return c.entries }

func (c *Cache) clear() {
	clear(c.entries)
	c.entries = c.entries[:0]
	clear(c.at)
	clear(c.owned)
}

// fold applies a delivery and returns what the view held before and holds now.
func (c *Cache) fold(r *sim.Record, keyed bool) (before, after metav1.Object) {
	n := nsName{r.Object.Namespace, r.Object.Name}
	after = meta(r.After)
	i, ok := c.at[n]
	if !ok {
		if after != nil {
			e := Cached{Value: r.After, Meta: after, born: r.Index, since: r.Index}
			if keyed {
				e.Key = r.Object.Key()
			}
			c.at[n] = len(c.entries)
			c.entries = append(c.entries, e)
		}
		return nil, after
	}
	before = c.entries[i].Meta
	if after != nil {
		e := &c.entries[i]
		if before.GetUID() != after.GetUID() || !sameOwners(before.GetOwnerReferences(), after.GetOwnerReferences()) {
			e.since = r.Index
		}
		if before.GetUID() != after.GetUID() {
			e.born = r.Index
		}
		e.Value, e.Meta = r.After, after
		return before, after
	}
	c.drop(n, i)
	return before, nil
}

func (c *Cache) drop(n nsName, i int) {
	last := len(c.entries) - 1
	if i != last {
		moved := c.entries[last]
		c.entries[i] = moved
		c.at[nsName{moved.Meta.GetNamespace(), moved.Meta.GetName()}] = i
	}
	c.entries[last] = Cached{}
	c.entries = c.entries[:last]
	delete(c.at, n)
}
