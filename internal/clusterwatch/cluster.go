// Package clusterwatch watches a running cluster and reports problems with the ownership of objects. It only sends list
// and watch requests.
//
// A [Cluster] holds the known state. It receives each version of each object, deletions, and the time. It reports each
// problem once, as a [Finding]. It does not use the network: a [Reader] discovers kinds, lists and watches them, and
// passes the objects to the Cluster. The Reader reconnects when a watch fails.
//
// # Who wrote
//
// A watch event contains an object, but not the client that changed it. metadata.managedFields contains the last
// manager of each field. So a change is attributed to the manager that owns the changed fields afterwards (object.go).
// managedFields does not show who removed a field or deleted an object. Changes by an unknown manager are not reported.
//
// # What is not reported
//
// Some problems resolve themselves. For example, the garbage collector deletes objects without existing owners, and
// controllers adopt orphans. These problems are reported only if they last for Options.Patience. It is not a fight if
// one program changes a value and changes it back. Changes by a person count as a fight only if they are too fast for a
// person. Changes of times, reports of kubelets and controllers about nodes and pods, leases and events are ignored.
package clusterwatch

import (
	"container/list"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// Options configure what is reported, and where.
type Options struct {
	Patience time.Duration // the time after which a problem that may resolve itself is reported
	Stuck    time.Duration // the time that an object may exist after it should have been deleted
	Tell     func(Finding)
	Record   *Record // receives all changes; nil for none
}

// mostBodies is the maximal number of bytes of cached objects, without metadata. The bodies that were written longest
// ago are dropped first. The next write to an object restores its body.
const mostBodies = 128 << 20

const mostGone = 20_000

// Cluster is the known state of a cluster. It may be used by only one goroutine.
type Cluster struct {
	Options

	kinds      map[schema.GroupKind]*served
	objects    map[place]*entry
	byUID      map[types.UID]*entry
	dependents map[types.UID]map[*entry]bool
	claimers   map[string]map[*entry]bool    // namespace -> objects that select other objects
	strays     map[*entry]bool               // objects without an owner, of kinds that can be adopted
	open       map[*entry]map[Sort]time.Time // problems that are not reported yet, and when they began
	gone       *lru.Cache                    // the UIDs of recently deleted objects
	fights     *fights
	bodies     *list.List // *entry values that have a body; the last written first
	bytes      int
	told       int
}

type served struct {
	*ServedKind
	synced bool // the kind was listed at least once
}

type entry struct {
	now      *Version
	lines    []Line // the first change and the latest changes
	had      *hold  // the last controller, if there is none now
	taken    *hold  // the previous controller, if there is another one now
	released bool   // the object has lost a controller since the watch began
	told     map[string]bool
	body     *list.Element
}

// NewCluster returns a cluster without objects.
func NewCluster(o Options) *Cluster {
	c := &Cluster{Options: o, kinds: map[schema.GroupKind]*served{}, objects: map[place]*entry{},
		byUID: map[types.UID]*entry{}, dependents: map[types.UID]map[*entry]bool{},
		claimers: map[string]map[*entry]bool{}, strays: map[*entry]bool{}, open: map[*entry]map[Sort]time.Time{},
		bodies: list.New(), gone: lru.New(mostGone)}
	c.fights = newFights(c.tell)
	return c
}

func (c *Cluster) tell(f Finding) {
	if !f.Goes {
		c.told++
	}
	c.Tell(f)
}

// Told returns the number of findings. A finding that is reported again because it continues counts once.
func (c *Cluster) Told() int { return c.told }

// Len returns the number of objects.
func (c *Cluster) Len() int { return len(c.objects) }

// Look adds a kind that is watched.
func (c *Cluster) Look(k *ServedKind) { c.kinds[k.groupKind()] = &served{ServedKind: k} }

// Leave removes a kind that can no longer be watched.
func (c *Cluster) Leave(k *ServedKind) { delete(c.kinds, k.groupKind()) }

func (k *ServedKind) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}

// Synced reports whether every kind was listed at least once.
func (c *Cluster) Synced() bool {
	for _, s := range c.kinds {
		if !s.synced {
			return false
		}
	}
	return true
}

// Listed sets the objects of a kind. Known objects that are not in the list no longer exist.
func (c *Cluster) Listed(now time.Time, k *ServedKind, all []*Version) {
	there := map[types.UID]bool{}
	for _, v := range all {
		there[v.UID] = true
	}
	for _, e := range slices.Collect(maps.Values(c.objects)) {
		if e.now.of.groupKind() == k.groupKind() && !there[e.now.UID] {
			c.remove(now, e)
		}
	}
	for _, v := range all {
		c.Put(now, v)
	}
	s := c.kinds[k.groupKind()]
	if s == nil || s.synced {
		return
	}
	s.synced = true
	if c.Synced() {
		for _, e := range c.objects {
			c.suspect(now, e)
		}
	}
}

// Put sets the current version of an object.
func (c *Cluster) Put(now time.Time, v *Version) {
	o := v
	e := c.objects[o.place()]
	if e != nil && e.now.UID != o.UID {
		c.remove(now, e)
		e = nil
	}
	s := c.kinds[o.of.groupKind()]
	switch {
	case s == nil, e != nil && e.now.ResourceVersion == o.ResourceVersion:
		return
	case e != nil:
		c.changed(now, e, o)
		return
	}
	e = &entry{now: o, told: map[string]bool{}}
	c.objects[o.place()] = e
	if s.synced {
		x := &change{new: o, at: now, who: o.maker()}
		c.store(e, o)
		c.Record.note(x)
		e.lines = append(e.lines, x.line())
		c.note(x)
	} else {
		c.Record.found(now, o)
		o.body = nil
		c.store(e, o)
	}
	c.suspect(now, e)
}

func (c *Cluster) changed(now time.Time, e *entry, o *Version) {
	x := compare(e.now, o, now)
	c.Record.note(x)
	c.unindex(e)
	if len(x.leaves) > 0 || x.old.terminating() != o.terminating() {
		c.story(e, x)
	}
	c.handed(e, x)
	c.store(e, o)
	c.note(x)
	c.suspect(now, e)
}

// story adds a change to an object's story. Writes that change only status are left out.
func (c *Cluster) story(e *entry, x *change) {
	if !slices.ContainsFunc(x.leaves, func(l leaf) bool { return !strings.HasPrefix(l.path, "status") }) &&
		x.old.terminating() == x.new.terminating() {
		return
	}
	if len(e.lines) == mostLines {
		e.lines = append(e.lines[:1], e.lines[2:]...) // the first line is kept
	}
	e.lines = append(e.lines, x.line())
}

// Gone records that an object no longer exists.
func (c *Cluster) Gone(now time.Time, v *Version) {
	if e := c.objects[v.place()]; e != nil && e.now.UID == v.UID {
		c.remove(now, e)
	}
}

func (c *Cluster) remove(now time.Time, e *entry) {
	o := e.now
	x := &change{old: o, at: now}
	c.Record.note(x)
	c.unindex(e)
	c.drop(e)
	delete(c.objects, o.place())
	delete(c.open, e)
	c.note(x)
	c.gone.Add(o.UID, nil)
	for d := range c.dependents[o.UID] {
		c.suspect(now, d)
	}
	if o.selector != nil {
		for s := range c.strays {
			if s.now.Namespace == o.Namespace {
				c.suspect(now, s)
			}
		}
	}
}

func (c *Cluster) store(e *entry, o *Version) {
	c.drop(e)
	e.now = o
	o.lighten(true)
	c.byUID[o.UID] = e
	for _, r := range o.OwnerReferences {
		if c.dependents[r.UID] == nil {
			c.dependents[r.UID] = map[*entry]bool{}
		}
		c.dependents[r.UID][e] = true
	}
	if o.selector != nil {
		if c.claimers[o.Namespace] == nil {
			c.claimers[o.Namespace] = map[*entry]bool{}
		}
		c.claimers[o.Namespace][e] = true
	}
	if o.of.claimable() && len(o.OwnerReferences) == 0 {
		c.strays[e] = true
	}
	if o.body == nil {
		return
	}
	e.body = c.bodies.PushFront(e)
	c.bytes += len(o.body)
	for c.bytes > mostBodies && c.bodies.Len() > 1 {
		last := c.bodies.Back().Value.(*entry)
		c.drop(last)
		last.now.body = nil
	}
}

func (c *Cluster) drop(e *entry) {
	if e.body != nil {
		c.bodies.Remove(e.body)
		c.bytes -= len(e.now.body)
		e.body = nil
	}
}

func (c *Cluster) unindex(e *entry) {
	o := e.now
	delete(c.byUID, o.UID)
	for _, r := range o.OwnerReferences {
		if delete(c.dependents[r.UID], e); len(c.dependents[r.UID]) == 0 {
			delete(c.dependents, r.UID)
		}
	}
	if o.selector != nil {
		if delete(c.claimers[o.Namespace], e); len(c.claimers[o.Namespace]) == 0 {
			delete(c.claimers, o.Namespace)
		}
	}
	delete(c.strays, e)
}
