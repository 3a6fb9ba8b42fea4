// Package clusterwatch watches a running cluster, with lists and watches only, and reports what is wrong with its ownership.
//
// A [Cluster] is the known state. It receives each version of each object, deletions, and the time, and reports each
// problem once as a [Finding]. It does not use the network. A [Reader] feeds it: it discovers kinds, lists and watches
// them, and reconnects when a watch breaks off.
//
// # Who wrote
//
// A watch shows an object, but not who changed it. metadata.managedFields names the manager that wrote a field last.
// The writer of a change is thus the manager that has, in the new version, the fields that differ (writer.go).
// managedFields does not show who removed a field or deleted an object. Changes by an unknown writer are not reported.
//
// # What is not reported
//
// Problems that fix themselves are not reported: a reference to a missing owner stays until the garbage collector
// comes, an orphan until it is adopted. So a state must last for Options.Patience first. Changes that one program makes
// and undoes are not a fight. Changes by hand count as a fight only if they are too fast for a hand. Times of day, node
// and pod reports by kubelets and controllers, leases and events are ignored.
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
	Patience time.Duration // how long a problem that may fix itself must last
	Stuck    time.Duration // how long after its time a deleted object may still exist
	Tell     func(Finding)
	Record   *Record // receives the history; nil for none
}

// mostBodies limits the bytes of cached objects, without their metadata. Those written longest ago are dropped first;
// their next write restores them.
const mostBodies = 128 << 20

const mostGone = 20_000

// Cluster is the known state of a cluster. Only one goroutine may use it.
type Cluster struct {
	Options

	kinds      map[schema.GroupKind]*served
	objects    map[place]*entry
	byUID      map[types.UID]*entry
	dependents map[types.UID]map[*entry]bool
	claimers   map[string]map[*entry]bool // by namespace: objects that select others
	strays     map[*entry]bool            // ownerless, of kinds that are claimed
	open       map[*entry]map[Sort]time.Time
	gone       *lru.Cache // the uids of the last deleted objects
	fights     *fights
	bodies     *list.List // *entry values, last written first
	bytes      int
	told       int
}

type served struct {
	*ServedKind
	synced bool // it was listed once
}

type entry struct {
	now      *Version
	lines    []Line // its latest changes
	had      *hold  // its last controller, if it has none now
	taken    *hold  // its previous controller, if it has another one now
	released bool   // it was seen to lose its controller
	told     map[string]bool
	body     *list.Element
}

// NewCluster returns a cluster with no known state.
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

// Told returns the number of findings; a finding that grows counts once.
func (c *Cluster) Told() int { return c.told }

// Len returns the number of objects.
func (c *Cluster) Len() int { return len(c.objects) }

// Look adds a watched kind.
func (c *Cluster) Look(k *ServedKind) { c.kinds[k.groupKind()] = &served{ServedKind: k} }

// Leave removes a kind that cannot be watched any more.
func (c *Cluster) Leave(k *ServedKind) { delete(c.kinds, k.groupKind()) }

func (k *ServedKind) groupKind() schema.GroupKind {
	return schema.GroupKind{Group: k.Group, Kind: k.Kind}
}

// Synced reports whether every kind was listed once.
func (c *Cluster) Synced() bool {
	for _, s := range c.kinds {
		if !s.synced {
			return false
		}
	}
	return true
}

// Listed sets all objects of a kind. Known objects that are not among them are gone.
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

// Put sets an object's current version.
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

// story adds a change to an object's story, except writes of status.
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

// Gone records that an object is gone.
func (c *Cluster) Gone(now time.Time, v *Version) {
	if e := c.objects[v.place()]; e != nil && e.now.UID == v.UID {
		if c.kinds[v.of.groupKind()] != nil {
			v.body = nil
		}
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
