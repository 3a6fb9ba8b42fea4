package law

import (
	"math"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
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

// glimpse is what a process knew of an object until a change during a sync.
type glimpse struct {
	kind    string
	uid     types.UID
	owner   types.UID
	value   any
	cached  any
	version uint64
	record  int // of the change
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

func versionOf(m metav1.Object) uint64 {
	v, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// follows reports whether a process's knowledge of a kind is kept.
func (p *Process) follows(kind string) bool {
	return p.Subject.Kind != "" && (kind == p.Subject.Kind || p.manages(kind))
}

// shown notes a delivery.
func (p *Process) shown(r *sim.Record) {
	before, after := meta(r.Before), meta(r.After)
	if before != nil && (after == nil || after.GetUID() != before.GetUID()) {
		p.removed(before.GetUID(), r.Index)
	}
	if after != nil {
		if e := p.known.byUID[after.GetUID()]; e != nil && e.ahead {
			p.note(r.Index, e)
		}
		e := p.learn(r.Object.Kind, r.After, after, r.Index, nil)
		if e.cached = r.After; e.meta == after {
			p.known.confirm(e)
		}
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

// told notes what the answer to a request of its own tells a process, at the
// latest before its next request. An answer that was lost tells nothing.
func (p *Process) told(r *sim.Record) {
	if r.Lost || r.Incarnation != p.incarnation || !p.follows(r.Object.Kind) {
		return
	}
	k, n := p.work(r), &p.known
	var e *sight
	if before := meta(r.Before); before != nil && strings.HasPrefix(r.Verb, "delete") {
		if e = n.byUID[before.GetUID()]; e != nil {
			e.removed = true
		}
	}
	if after := meta(r.After); after != nil {
		e = p.learn(r.Object.Kind, r.After, after, r.Index, k)
	} else if before := meta(r.Before); before != nil {
		if e = n.byUID[before.GetUID()]; e != nil {
			p.set(e, nil, nil, r.Index, k) // kept: older news of it may be under way
		}
	}
	if e != nil && k != nil && e.owner == k.owner && !e.active && p.tookFor(r, e) {
		k.more++
	}
	if e != nil && !e.ahead {
		e.ahead = true
		n.ahead = append(n.ahead, e)
	}
}

// gap forgets what is known from answers alone of a kind that was listed anew:
// what the list does not hold is gone, and no event will say so.
func (p *Process) gap(kind string) {
	n := &p.known
	for i := len(n.ahead) - 1; i >= 0; i-- {
		if e := n.ahead[i]; e.kind == kind && e.cached == nil {
			p.set(e, nil, nil, 0, nil)
			delete(n.byUID, e.uid)
			n.confirm(e)
		}
	}
}

// learn takes in one version of an object, unless a newer one is known. By is
// the worker whose own doing it was, nil when the news came by itself.
func (p *Process) learn(kind string, value any, m metav1.Object, record int, by *work) *sight {
	n, uid, version := &p.known, m.GetUID(), versionOf(m)
	e := n.byUID[uid]
	switch {
	case e == nil:
		e = n.fresh()
		e.kind, e.uid = kind, uid
		n.byUID[uid] = e
	case e.version > version && version != 0:
		return e
	}
	if len(n.past) > 0 && n.past[uid] <= version {
		delete(n.past, uid)
	}
	p.set(e, value, m, record, by)
	e.version = version
	return e
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

// removed takes in that an object is gone for good.
func (p *Process) removed(uid types.UID, record int) {
	if e := p.known.byUID[uid]; e != nil {
		p.set(e, nil, nil, record, nil)
		delete(p.known.byUID, uid)
		delete(p.known.past, uid)
		p.known.confirm(e)
	}
}

// set changes what is known of an object, and tells the workers what that does
// to the count of their owners' dependents.
func (p *Process) set(e *sight, value any, m metav1.Object, record int, by *work) {
	n := &p.known
	p.note(record, e)
	owner, active := types.UID(""), false
	if m != nil && p.manages(e.kind) {
		if ref := controllerOf(m); ref != nil {
			owner = ref.UID
		}
		active = p.Subject.counts(value, m) || by != nil && p.countsStill(e, m)
	}
	if owner != e.owner || active != e.active {
		n.leave(e)
		p.moved(e.owner, e.active, -1, by)
		e.since = record
		e.owner, e.active = owner, active
		n.join(e)
		p.moved(owner, active, 1, by)
	}
	e.value, e.meta = value, m
}

// note keeps what was known of an object until now, while anybody is at work.
func (p *Process) note(record int, e *sight) {
	if !p.atWork() || e == nil {
		return
	}
	n := &p.known
	if len(n.journal) >= max(longJournal, 2*n.kept) {
		oldest := p.oldestSync()
		n.journal = slices.DeleteFunc(n.journal, func(g glimpse) bool { return g.record < oldest })
		n.kept = len(n.journal)
	}
	n.journal = append(n.journal, glimpse{e.kind, e.uid, e.owner, e.value, e.cached, e.version, record})
}

// A journal of longJournal entries, and again one that has doubled, is cut to
// what the syncs at work can have seen: where several workers take turns it is
// never empty.
const longJournal = 256

// oldestSync is the record at which the first of the syncs at work began, those
// included whose last requests may still land.
func (p *Process) oldestSync() int {
	oldest := math.MaxInt
	for _, list := range [][]work{p.workers, p.former} {
		for i := range list {
			if list[i].busy {
				oldest = min(oldest, list[i].begun)
			}
		}
	}
	return oldest
}

// atWork reports whether any worker is in a sync. When none is the journal, which
// is about what changes during one, begins anew.
func (p *Process) atWork() bool {
	for i := range p.workers {
		if p.workers[i].busy {
			return true
		}
	}
	clear(p.known.journal)
	p.known.journal, p.known.kept = p.known.journal[:0], 0
	return false
}
