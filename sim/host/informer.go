package host

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
)

// informer is a process's shared informer of one kind: its cache, and the events of its watch that wait for delivery.
// It implements cache.SharedIndexInformer. The scheduler delivers the events one at a time.
type informer struct {
	process  *Process
	kind     *fakeapi.Kind
	gvk      schema.GroupVersionKind // the version of the kind that the process requests
	state    *kindState
	slot     int // index in [Process].order
	cache    *indexer
	handlers []*registration

	synced  bool
	held    bool     // the watch is paused
	noticed bool     // the process offers the action that delivers an event of this informer
	stream  stream   // events of the watch that wait for delivery
	backlog []change // changes found by a relist, and objects to resync; delivered before the stream
	from    uint64   // revision of the initial list; 0 for the latest

	relisted uint64 // revision of the last relist; copied to cache.rv when the backlog has been delivered

	seq      uint64     // number of changes that were delivered to the cache so far
	readBy   []readMark // the last read of each worker; the index is worker.id
	replaced []replaced // versions that a change has replaced, but that a running reconcile may have read
}

// readMark records when a worker last read a cache: in which reconcile ([worker].sync), and after how many deliveries.
type readMark struct{ sync, seq uint64 }

// replaced records that a change replaced a version in the cache while a reconcile was running.
type replaced struct {
	key string
	old *version // nil if the cache had no object with the key
	seq uint64   // the number of the delivery that replaced old
}

// registration is a handler that the controller itself added.
type registration struct {
	informer *informer
	handler  cache.ResourceEventHandler
	gone     bool
}

// show converts a stored version to the API version that the process requested. If the server no longer serves that API
// version, show returns v unchanged.
func (i *informer) show(v *version) *version {
	if v.obj.GetObjectKind().GroupVersionKind() == i.gvk {
		return v
	}
	if s := i.process.cluster.server; s.Kind(i.gvk) != nil {
		return v.as(s, s.Kind(i.gvk))
	}
	return v
}

// pending returns the number of waiting deliveries. An initial list counts as one.
func (i *informer) pending() int {
	if !i.synced {
		return 1
	}
	return len(i.backlog) + i.stream.len()
}

func (i *informer) deliver() {
	if !i.synced {
		i.list()
		return
	}
	if len(i.backlog) > 0 {
		c := i.backlog[0]
		i.backlog = i.backlog[1:]
		i.notice()
		i.apply(&c, false)
		i.caughtUp()
		return
	}
	for many := i.stream.len() > mostWaiting; ; {
		c := i.stream.pop()
		i.notice()
		i.cache.rv = c.version
		i.apply(&c, false)
		if !many || !i.renewed(&c) {
			return
		}
	}
}

// mostWaiting is the number of waiting events up to which each one is a delivery of its own.
const mostWaiting = 100

// renewed reports whether the next event is, like c, an update of the same Lease. If many events wait, these are delivered
// together: during hours in which nothing else happens, a program renews its Lease thousands of times.
func (i *informer) renewed(c *change) bool {
	if i.gvk.Kind != "Lease" || i.stream.len() == 0 || c.before == nil || c.after == nil {
		return false
	}
	next := &i.stream.waiting()[0]
	return next.before != nil && next.after != nil && next.key() == c.key()
}

// list performs the initial list at the revision in i.from.
func (i *informer) list() {
	at := i.from
	if at == 0 {
		at = i.process.cluster.server.Version()
	}
	items, later, at := i.process.cluster.listAt(i.state, at)
	i.stream = streamOf(later)
	i.synced = true
	i.notice()
	i.cache.rv = at
	for _, v := range items {
		i.apply(&change{version: at, after: v, cause: -1}, true)
	}
}

// relist replaces the watch by a list, as after 410 Gone. The listed objects are delivered one by one, and then a
// tombstone for each cached object that the list lacks. The waiting events of the watch are dropped.
func (i *informer) relist() {
	at := i.process.cluster.server.Version()
	items, _, _ := i.process.cluster.listAt(i.state, at)
	i.backlog = i.backlog[:0]
	listed := make(map[string]bool, len(items))
	for _, v := range items {
		listed[v.key] = true
		old := i.cache.get(v.key)
		i.backlog = append(i.backlog, change{version: at, before: old, after: v, cause: -1, resync: old == v})
	}
	i.cache.items.Ascend(func(v *version) bool {
		if !listed[v.key] {
			i.backlog = append(i.backlog, change{version: at, before: v, cause: -1, tombstone: true})
		}
		return true
	})
	if i.missedForGood(listed) {
		i.process.resyncLater()
	}
	i.stream, i.relisted = stream{}, at
	i.notice()
	i.caughtUp()
}

// caughtUp sets the cache's revision to the revision of the last relist when the backlog is empty. client-go does the
// same: with AtomicFIFO, its queue delivers a list as one item.
func (i *informer) caughtUp() {
	if len(i.backlog) == 0 {
		i.cache.rv = max(i.cache.rv, i.relisted)
	}
}

// missedForGood reports whether a relist hides a change that the process can never see. For example, an object was
// created and deleted since the last delivery, or its owners changed before its deletion.
func (i *informer) missedForGood(listed map[string]bool) bool {
	for _, c := range i.stream.waiting() {
		if c.after != nil || listed[c.key()] {
			continue
		}
		known := i.cache.get(c.key())
		if known == nil || !sameOwners(known.meta, c.before.meta) {
			return true
		}
	}
	return false
}

func sameOwners(a, b metav1.Object) bool {
	same := func(x, y metav1.OwnerReference) bool { return x.UID == y.UID }
	return slices.EqualFunc(a.GetOwnerReferences(), b.GetOwnerReferences(), same)
}

// resyncPeriod is the shortest resync period in kube-controller-manager. controller-runtime's default is ten hours.
const resyncPeriod = 12 * time.Hour

// resyncLater sets a timer for a resync of all informers of the process, unless it is set already. The resync repairs
// the effects of missed events. Without missed events there is no timer: a resync would show nothing new.
func (p *Process) resyncLater() {
	for _, a := range p.cluster.world.Clock.Pending() {
		if a.Owner == p.Name && a.Label == "resync" {
			return
		}
	}
	p.cluster.world.Clock.After(resyncPeriod, p.Name, "resync", func() {
		for _, i := range p.order {
			if i.synced {
				i.resync()
			}
		}
		p.cluster.fact(p, "resync", "")
	})
}

// resync adds every cached object to the backlog, to be delivered again unchanged (WRITE-9).
func (i *informer) resync() {
	i.cache.items.Ascend(func(v *version) bool {
		i.backlog = append(i.backlog, change{before: v, after: v, cause: -1, resync: true})
		return true
	})
	i.notice()
}

// apply updates the cache by one change, and calls routes and handlers.
func (i *informer) apply(c *change, initial bool) {
	i.seq++
	key := c.key()
	var old *version
	switch {
	case c.after != nil && c.resync:
		old = i.cache.get(key)
		if old == nil {
			return // deleted from the cache since the resync or relist began
		}
		c.after = old
	case c.after != nil:
		old = i.cache.put(c.after)
	default:
		old = i.cache.drop(key)
	}
	if i.process.busy > 0 && old != c.after {
		i.replaced = append(i.replaced, replaced{key: key, old: old, seq: i.seq})
	}
	if old == nil && c.after == nil {
		return
	}
	i.process.notify(i, c, old, initial)
}

// sawIn returns the version of a key that the cache had when w last read the cache in its current reconcile. If the
// cache lacked the key, v is nil. If this reconcile has not read the cache, ok is false.
func (i *informer) sawIn(w *worker, key string) (v *version, ok bool) {
	if w.id >= len(i.readBy) || i.readBy[w.id].sync != w.sync {
		return nil, false
	}
	seq := i.readBy[w.id].seq
	for j := range i.replaced {
		if r := &i.replaced[j]; r.seq > seq && r.key == key {
			return r.old, true
		}
	}
	return i.cache.get(key), true
}
