package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// known is what a process has been shown of the objects it syncs and manages:
// what was delivered to it and, where that is newer, what the answers to its own
// requests said. The EXACT laws go by it: who was told that his create succeeded
// knows of one more, whether or not his cache shows it yet.
type known struct {
	byUID    map[types.UID]*sight
	families map[types.UID]*family
	ahead    []*sight // known from an answer, and not yet so from the cache
	journal  []glimpse
	kept     int                  // entries of the journal that were kept when it was last cut
	sorted   glimpses             // of the journal; only good while a law looks at it
	past     map[types.UID]uint64 // newer versions that earlier lives were shown
	slab     []sight
}

// sight is one object as a process knows it.
type sight struct {
	kind    string
	uid     types.UID
	owner   types.UID // its controller; "" for none, and for what is no dependent
	value   any       // nil once it is known to be gone
	meta    metav1.Object
	version uint64
	cached  any // what was last delivered of it
	active  bool
	ahead   bool
	removed bool // the process itself has asked for its deletion
	since   int  // the record that made it active and its owner's
	slot    int  // in its family, where it has one
}

// family is what a process knows one owner to control.
type family struct {
	members []*sight
	active  int
}

func newKnown() known {
	return known{byUID: map[types.UID]*sight{}, families: map[types.UID]*family{}, past: map[types.UID]uint64{}}
}

// crash forgets what a life of the process knew, but for how new it was.
func (n *known) crash() {
	for uid, e := range n.byUID {
		if e.value != nil && e.version > n.past[uid] {
			n.past[uid] = e.version
		}
	}
	n.clear()
}

func (n *known) clear() {
	clear(n.byUID)
	clear(n.families)
	clear(n.ahead)
	clear(n.journal)
	n.ahead, n.journal, n.kept = n.ahead[:0], n.journal[:0], 0
}

// members are the objects that an owner is known to control.
func (n *known) members(owner types.UID) []*sight {
	if f := n.families[owner]; f != nil {
		return f.members
	}
	return nil
}

// active is how many of them count.
func (n *known) active(owner types.UID) int {
	if f := n.families[owner]; f != nil {
		return f.active
	}
	return 0
}

// leave takes an object out of its owner's family.
func (n *known) leave(e *sight) {
	f := n.families[e.owner]
	if e.owner == "" || f == nil {
		return
	}
	last := len(f.members) - 1
	f.members[e.slot] = f.members[last]
	f.members[e.slot].slot = e.slot
	f.members[last] = nil
	f.members = f.members[:last]
	if e.active {
		f.active--
	}
}

// join puts it into its new owner's.
func (n *known) join(e *sight) {
	if e.owner == "" {
		return
	}
	f := n.families[e.owner]
	if f == nil {
		f = &family{members: make([]*sight, 0, 4)}
		n.families[e.owner] = f
	}
	e.slot = len(f.members)
	f.members = append(f.members, e)
	if e.active {
		f.active++
	}
}

// confirm takes what the cache shows by now off the list of what it does not.
func (n *known) confirm(e *sight) {
	if !e.ahead {
		return
	}
	e.ahead = false
	i := slices.Index(n.ahead, e)
	last := len(n.ahead) - 1
	n.ahead[i], n.ahead[last] = n.ahead[last], nil
	n.ahead = n.ahead[:last]
}

// fresh is an empty sight, one of many that were made at once.
func (n *known) fresh() *sight {
	if len(n.slab) == 0 {
		n.slab = make([]sight, 32)
	}
	e := &n.slab[0]
	n.slab = n.slab[1:]
	return e
}
