package watch

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

// Options say what is told, and to whom.
type Options struct {
	Patience time.Duration // how long what may mend itself must last
	Stuck    time.Duration // how long after its time an object that was deleted may still be there
	Tell     func(Finding)
	Record   *Record // what keeps the history; nil for nothing
}

// mostBodies is how many bytes of objects are kept, beside their metadata. Those that were
// written longest ago go first, and are compared again from the next write on.
const mostBodies = 128 << 20

const mostGone = 20_000

// Cluster is what is known of a cluster. It is used by one goroutine.
type Cluster struct {
	Options

	kinds      map[schema.GroupKind]*served
	objects    map[place]*entry
	byUID      map[types.UID]*entry
	dependents map[types.UID]map[*entry]bool
	claimers   map[string]map[*entry]bool // by namespace: whose objects select others
	strays     map[*entry]bool            // that nobody owns, of kinds that are claimed
	open       map[*entry]map[Sort]time.Time
	gone       *lru.Cache // the uids of what went last
	fights     *fights
	bodies     *list.List // of *entry, those written last in front
	bytes      int
	told       int
}

// served is a kind that is looked at.
type served struct {
	*Kind
	synced bool // all of it was seen once
}

// entry is one object that is there.
type entry struct {
	now      *Version
	lines    []Line // what became of it lately
	had      *hold  // who controlled it before nobody did
	taken    *hold  // who controlled it before its controller became another
	released bool   // it was seen to lose its controller
	told     map[string]bool
	body     *list.Element
}

// NewCluster returns a cluster of which nothing is known.
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

// Told is how many findings there were, those that have grown once.
func (c *Cluster) Told() int { return c.told }

// Len is how many objects there are.
func (c *Cluster) Len() int { return len(c.objects) }

// Look says that a kind is looked at from now on.
func (c *Cluster) Look(k *Kind) { c.kinds[k.groupKind()] = &served{Kind: k} }

// Leave says that a kind cannot be looked at any more.
func (c *Cluster) Leave(k *Kind) { delete(c.kinds, k.groupKind()) }

func (k *Kind) groupKind() schema.GroupKind { return schema.GroupKind{Group: k.Group, Kind: k.Kind} }

// Synced reports whether all of every kind was seen once.
func (c *Cluster) Synced() bool {
	for _, s := range c.kinds {
		if !s.synced {
			return false
		}
	}
	return true
}

// Listed says that these are all objects of a kind. What was there before and is not among
// them is gone.
func (c *Cluster) Listed(now time.Time, k *Kind, all []*Version) {
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

// Put says that an object is as it is in this version.
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

// story keeps a line of what became of an object. Writes of status are left out.
func (c *Cluster) story(e *entry, x *change) {
	if !slices.ContainsFunc(x.leaves, func(l leaf) bool { return !strings.HasPrefix(l.path, "status") }) &&
		x.old.terminating() == x.new.terminating() {
		return
	}
	if len(e.lines) == mostLines {
		e.lines = append(e.lines[:1], e.lines[2:]...) // how it began is kept
	}
	e.lines = append(e.lines, x.line())
}

// Gone says that an object is gone.
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
