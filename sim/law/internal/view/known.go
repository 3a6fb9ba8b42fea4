package view

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Known is what a process has been shown of the objects it syncs and manages:
// what was delivered to it and, where that is newer, what the answers to its own
// requests said. The EXACT laws go by it: who was told that his create succeeded
// knows of one more, whether or not his cache shows it yet.
type Known struct {
	ByUID    map[types.UID]*Sight
	families map[types.UID]*family
	Ahead    []*Sight // known from an answer, and not yet so from the cache
	Journal  Journal
	Past     map[types.UID]uint64 // newer versions that earlier lives were shown
	slab     []Sight
}

// Sight is one object as a process knows it.
type Sight struct {
	Kind    string
	UID     types.UID
	Owner   types.UID // its controller; "" for none, and for what is no dependent
	Value   any       // nil once it is known to be gone
	Meta    metav1.Object
	Version uint64
	Cached  any // what was last delivered of it
	Active  bool
	Ahead   bool
	Removed bool // the process itself has asked for its deletion
	Since   int  // the record that made it active and its owner's
	Made    int  // the record of the last write of the process's own that changed more of it than whose it is
	slot    int  // in its family, where it has one
}

// family is what a process knows one owner to control.
type family struct {
	members []*Sight
	active  int
}

// NewKnown returns the knowledge of a process that was shown nothing.
func NewKnown() Known {
	return Known{ByUID: map[types.UID]*Sight{}, families: map[types.UID]*family{}, Past: map[types.UID]uint64{}}
}

// Crash forgets what a life of the process knew, but for how new it was.
func (n *Known) Crash() {
	for uid, e := range n.ByUID { //detcheck:ordered each uid is set once
		if e.Value != nil && e.Version > n.Past[uid] {
			n.Past[uid] = e.Version
		}
	}
	n.Clear()
}

// Clear forgets what it was shown, but not what Crash kept.
func (n *Known) Clear() {
	clear(n.ByUID)
	clear(n.families)
	clear(n.Ahead)
	n.Ahead = n.Ahead[:0]
	n.Journal.Clear()
}

// Members are the objects that an owner is known to control.
func (n *Known) Members(owner types.UID) []*Sight {
	if f := n.families[owner]; f != nil {
		return f.members
	}
	return nil
}

// Active is how many of them count.
func (n *Known) Active(owner types.UID) int {
	if f := n.families[owner]; f != nil {
		return f.active
	}
	return 0
}

// Leave takes an object out of its owner's family.
func (n *Known) Leave(e *Sight) {
	f := n.families[e.Owner]
	if e.Owner == "" || f == nil {
		return
	}
	last := len(f.members) - 1
	f.members[e.slot] = f.members[last]
	f.members[e.slot].slot = e.slot
	f.members[last] = nil
	f.members = f.members[:last]
	if e.Active {
		f.active--
	}
}

// Join puts an object into its owner's family.
func (n *Known) Join(e *Sight) {
	if e.Owner == "" {
		return
	}
	f := n.families[e.Owner]
	if f == nil {
		f = &family{members: make([]*Sight, 0, 4)}
		n.families[e.Owner] = f
	}
	e.slot = len(f.members)
	f.members = append(f.members, e)
	if e.Active {
		f.active++
	}
}

// Confirm takes what the cache shows by now off the list of what it does not.
func (n *Known) Confirm(e *Sight) {
	if !e.Ahead {
		return
	}
	e.Ahead = false
	i := slices.Index(n.Ahead, e)
	last := len(n.Ahead) - 1
	n.Ahead[i], n.Ahead[last] = n.Ahead[last], nil
	n.Ahead = n.Ahead[:last]
}

// Lost are the sights of uids that are gone, in the order of uids: nobody will say that
// they are.
func (n *Known) Lost(gone func(types.UID) bool) (lost []*Sight) {
	//detcheck:ordered whether a uid is gone depends on nothing but the uid
	for uid, e := range n.ByUID {
		if gone(uid) {
			lost = append(lost, e)
		}
	}
	slices.SortFunc(lost, func(a, b *Sight) int { return strings.Compare(string(a.UID), string(b.UID)) })
	return lost
}

// Tidy drops the families that nobody is left of.
func (n *Known) Tidy() {
	maps.DeleteFunc(n.families, func(_ types.UID, f *family) bool { return len(f.members) == 0 })
}

// Fresh is an empty sight, one of many that were made at once.
func (n *Known) Fresh() *Sight {
	if len(n.slab) == 0 {
		n.slab = make([]Sight, 32)
	}
	e := &n.slab[0]
	n.slab = n.slab[1:]
	return e
}

// VersionAt is the version of an object that a process knew at a record.
func (n *Known) VersionAt(uid types.UID, record int) uint64 {
	_, version := n.at(uid, record)
	return version
}

// ValueAt is that version itself, nil for none.
func (n *Known) ValueAt(uid types.UID, record int) any {
	value, _ := n.at(uid, record)
	return value
}

func (n *Known) at(uid types.UID, record int) (value any, version uint64) {
	for i := range n.Journal.Entries {
		if g := &n.Journal.Entries[i]; g.UID == uid && g.Record >= record {
			return g.Value, g.Version
		}
	}
	if e := n.ByUID[uid]; e != nil {
		return e.Value, e.Version
	}
	return nil, 0
}
