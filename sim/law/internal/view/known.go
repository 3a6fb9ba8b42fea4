package view

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Known holds what a process knows about the objects that it reconciles and manages: from deliveries and, if newer,
// from answers to its own requests. The EXACT laws need the answers: after a successful create, a process knows the
// object even if its cache does not show it yet.
type Known struct {
	ByUID    map[types.UID]*Sight
	families map[types.UID]*family
	Ahead    []*Sight // objects with a version that is known from an answer, but not in the cache yet
	Journal  Journal
	Past     map[types.UID]uint64 // UID -> version from an earlier incarnation; removed when one as new is received
	slab     []Sight
}

// Sight is one object as a process knows it.
type Sight struct {
	Kind    string
	UID     types.UID
	Owner   types.UID // UID of the controlling owner; "" for none, or if the object's kind is not managed
	Value   any       // the object; nil if the process knows that it was deleted
	Meta    metav1.Object
	Version uint64
	Cached  any // the last delivered version; nil for none
	Active  bool
	Ahead   bool
	Removed bool // the process itself has requested the object's deletion
	Since   int  // index of the record that last changed Owner or Active
	Made    int  // record index of the process's last write to the object, see makes in package law
	slot    int  // index in the members of its family
}

// family holds the objects that one owner controls, according to the process's knowledge.
type family struct {
	members []*Sight
	active  int
}

// NewKnown returns empty knowledge.
func NewKnown() Known {
	return Known{ByUID: map[types.UID]*Sight{}, families: map[types.UID]*family{}, Past: map[types.UID]uint64{}}
}

// Crash forgets everything except Past. It adds the versions of the known objects to Past.
func (n *Known) Crash() {
	for uid, e := range n.ByUID { //detcheck:ordered each uid is set once
		if e.Value != nil && e.Version > n.Past[uid] {
			n.Past[uid] = e.Version
		}
	}
	n.Clear()
}

// Clear forgets everything except Past.
func (n *Known) Clear() {
	clear(n.ByUID)
	clear(n.families)
	clear(n.Ahead)
	n.Ahead = n.Ahead[:0]
	n.Journal.Clear()
}

// Members returns the objects that an owner is known to control.
func (n *Known) Members(owner types.UID) []*Sight {
	if f := n.families[owner]; f != nil {
		return f.members
	}
	return nil
}

// Active returns how many active objects an owner is known to control.
func (n *Known) Active(owner types.UID) int {
	if f := n.families[owner]; f != nil {
		return f.active
	}
	return 0
}

// Leave removes an object from its owner's family.
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

// Join adds an object to its owner's family.
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

// Confirm removes an object from Ahead, because the cache shows it now.
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

// Lost returns the known objects for which the function gone is true, sorted by UID. No event will report their
// deletion.
func (n *Known) Lost(gone func(types.UID) bool) (lost []*Sight) {
	//detcheck:ordered sorted below
	for uid, e := range n.ByUID {
		if gone(uid) {
			lost = append(lost, e)
		}
	}
	slices.SortFunc(lost, func(a, b *Sight) int { return strings.Compare(string(a.UID), string(b.UID)) })
	return lost
}

// Tidy drops empty families.
func (n *Known) Tidy() {
	maps.DeleteFunc(n.families, func(_ types.UID, f *family) bool { return len(f.members) == 0 })
}

// Fresh returns an empty Sight. To save allocations, it takes Sights from a block of 32.
func (n *Known) Fresh() *Sight {
	if len(n.slab) == 0 {
		n.slab = make([]Sight, 32)
	}
	e := &n.slab[0]
	n.slab = n.slab[1:]
	return e
}

// VersionAt returns the version of an object that the process knew just before a record, or 0.
func (n *Known) VersionAt(uid types.UID, record int) uint64 {
	_, version := n.at(uid, record)
	return version
}

// ValueAt returns the object in the version that [Known.VersionAt] returns, or nil.
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

// CachedSince reports whether the cache showed this version of an object just before a record, or later.
func (n *Known) CachedSince(uid types.UID, record int, version uint64) bool {
	shows := func(cached any) bool {
		m := meta.Of(cached)
		return m != nil && meta.Version(m) == version
	}
	if e := n.ByUID[uid]; e != nil && shows(e.Cached) {
		return true
	}
	return slices.ContainsFunc(n.Journal.Entries, func(g Glimpse) bool {
		return g.UID == uid && g.Record >= record && shows(g.Cached)
	})
}

// Key is an object's namespace and name, as in a queue.
type Key struct{ Namespace, Name string }

// KeyOf returns the key of a reference.
func KeyOf(r sim.Ref) Key { return Key{r.Namespace, r.Name} }

// String formats a key as in a queue.
func (n Key) String() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// Queue holds the state of the keys of a process's queue.
type Queue struct {
	Keys []Queued
	at   map[Key]int
}

// Queued holds the state of one key.
type Queued struct {
	Key
	Running int           // number of workers that reconcile the key
	Dirty   bool          // the key was enqueued after its last reconcile began
	Failed  bool          // the key's last reconcile ended with an error
	Ended   time.Duration // when the last reconcile ended
	Again   bool          // the key's last reconcile is a retry that still runs or has failed
	Hot     int           // number of consecutive retries without an event, each less than a second after the failure
}

// Brief is the minimum wait before a retry that counts as a backoff. client-go's backoff begins with five milliseconds
// and doubles, so the ninth delay is the first one that is longer than Brief.
const Brief = time.Second

// NewQueue returns an empty queue.
func NewQueue() Queue { return Queue{at: map[Key]int{}} }

// Clear forgets all keys.
func (q *Queue) Clear() {
	q.Keys = q.Keys[:0]
	clear(q.at)
}

func (q *Queue) get(key Key) *Queued {
	i, ok := q.at[key]
	if !ok {
		i = len(q.Keys)
		q.at[key] = i
		q.Keys = append(q.Keys, Queued{Key: key})
	}
	return &q.Keys[i]
}

// Find returns the state of a key, or nil if it was never in the queue. The pointer is valid until the next change.
func (q *Queue) Find(key Key) *Queued {
	if i, ok := q.at[key]; ok {
		return &q.Keys[i]
	}
	return nil
}

// Add notes that a key was enqueued.
func (q *Queue) Add(key string) {
	ns, name, ok := strings.Cut(key, "/")
	if !ok {
		ns, name = "", key
	}
	q.get(Key{ns, name}).Dirty = true
}

// Tidy drops keys for which nothing is remembered.
func (q *Queue) Tidy() {
	q.Keys = slices.DeleteFunc(q.Keys, func(k Queued) bool {
		return k.Running == 0 && !k.Dirty && !k.Failed && k.Hot == 0
	})
	clear(q.at)
	for i := range q.Keys {
		q.at[q.Keys[i].Key] = i
	}
}

// Start notes that a worker took a key.
func (q *Queue) Start(key Key, at time.Duration) {
	k := q.get(key)
	k.Again = k.Failed && !k.Dirty
	if !k.Dirty && k.Failed && at-k.Ended < Brief {
		k.Hot++
	} else {
		k.Hot = 0
	}
	k.Running++
	k.Dirty = false
}

// End notes that the worker has finished the reconcile.
func (q *Queue) End(key Key, failed bool, at time.Duration) {
	k := q.get(key)
	k.Running = max(k.Running-1, 0)
	k.Failed, k.Ended, k.Again = failed, at, k.Again && failed
}
