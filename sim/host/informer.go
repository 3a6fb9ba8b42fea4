package host

import (
	"context"
	"errors"
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// change is one entry of a kind's log: what a watch of that kind delivers.
type change struct {
	version       uint64
	before, after *version // nil: did not exist, was removed
	cause         int      // index of the commit's record
	tombstone     bool     // learnt from a relist
	resync        bool     // nothing changed
}

func (c *change) key() string {
	if c.after != nil {
		return c.after.key
	}
	return c.before.key
}

// informer is one process's shared informer of one kind: its cache, and how far
// along the kind's log it has read. It is a cache.SharedIndexInformer; the
// scheduler delivers to it one change at a time.
type informer struct {
	process  *Process
	kind     *fakeapi.Kind
	state    *kindState
	cache    *indexer
	handlers []*registration

	synced  bool
	held    bool     // its view is frozen
	cursor  int      // position in the log of the next change to deliver
	backlog []change // differences of a relist, delivered before the log
	from    uint64   // revision the initial list is to be read at; 0 for the latest
	relists int

	seq      uint64     // deliveries so far
	readBy   []readMark // by worker
	replaced []replaced // what syncs in progress may have read before it was replaced
}

// readMark says when a worker last read this cache: in which sync, after how
// many deliveries.
type readMark struct{ sync, seq uint64 }

// replaced is a version that left the cache while some sync was going on.
type replaced struct {
	key string
	old *version
	seq uint64 // the delivery that replaced it
}

type registration struct {
	informer *informer
	handler  cache.ResourceEventHandler
	gone     bool
}

// HasSynced reports whether the handler has seen the initial list.
func (r *registration) HasSynced() bool { return r.informer.synced }

// HasSyncedChecker is HasSynced as client-go's newer form.
func (r *registration) HasSyncedChecker() cache.DoneChecker { return r.informer.HasSyncedChecker() }

// pending is the number of deliveries that wait.
func (i *informer) pending() int {
	if !i.synced {
		return 1
	}
	return len(i.backlog) + i.state.end() - i.cursor
}

// peek returns the next change to deliver.
func (i *informer) peek() *change {
	if len(i.backlog) > 0 {
		return &i.backlog[0]
	}
	return i.state.at(i.cursor)
}

// deliver takes the next step of the watch: the initial list, or one change.
func (i *informer) deliver() {
	if !i.synced {
		i.list()
		return
	}
	if len(i.backlog) > 0 {
		c := i.backlog[0]
		i.backlog = i.backlog[1:]
		i.apply(&c, false)
		return
	}
	c := *i.state.at(i.cursor)
	i.cursor++
	i.apply(&c, false)
}

// list performs the initial list, at the revision the process restarted from.
func (i *informer) list() {
	at := i.from
	if at == 0 {
		at = i.process.cluster.server.Version()
	}
	at = max(at, i.state.forgotten)
	items, missed := i.state.snapshot(at)
	i.cursor = missed
	i.synced = true
	i.cache.rv = at
	for _, v := range items {
		i.apply(&change{version: at, after: v, cause: -1}, true)
	}
}

// relist replaces the watch by a list: what a process does after 410 Gone. The
// differences to its cache are delivered one by one; what vanished meanwhile
// comes as a tombstone. Events in between are never seen.
func (i *informer) relist() {
	at := i.process.cluster.server.Version()
	items, next := i.state.snapshot(at)
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
	i.cursor = next
	i.relists++
}

// resync delivers every cached object again, unchanged (WRITE-9).
func (i *informer) resync() {
	i.cache.items.Ascend(func(v *version) bool {
		i.backlog = append(i.backlog, change{before: v, after: v, cause: -1, resync: true})
		return true
	})
}

// apply brings the cache up to date with one change and tells routes and
// handlers.
func (i *informer) apply(c *change, initial bool) {
	i.seq++
	key := c.key()
	var old *version
	switch {
	case c.after != nil && c.resync:
		old = i.cache.get(key)
		if old == nil {
			return // deleted since the resync began
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
	if c.version != 0 {
		i.cache.rv = c.version
	}
	if old == nil && c.after == nil {
		return
	}
	i.process.notify(i, c, old, initial)
}

// sawIn returns the version of a key as a worker last read it in its current
// sync; ok is false when it has not read this cache in it.
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

// noteRead is the cache's read hook.
func (i *informer) noteRead(v *version) {
	w := i.process.cluster.running
	if w == nil || w.process != i.process {
		return
	}
	for len(i.readBy) <= w.id {
		i.readBy = append(i.readBy, readMark{})
	}
	i.readBy[w.id] = readMark{sync: w.sync, seq: i.seq}
	if v != nil {
		w.noteRead(v)
	}
}

// digest folds the view into a state digest.
func (i *informer) digest(h *sim.Hash) {
	h.Word(i.cache.exact)
	h.Bool(i.synced)
	h.Bool(i.held)
	for j := range i.backlog {
		i.backlog[j].digest(h)
	}
	if !i.synced {
		h.Word(i.from)
		return
	}
	for j := i.cursor; j < i.state.end(); j++ {
		i.state.at(j).digest(h)
	}
}

func (c *change) digest(h *sim.Hash) {
	if c.after != nil {
		h.Word(c.after.exact)
	} else {
		h.Word(^c.before.exact)
	}
	h.Bool(c.resync)
}

func (c *change) digestAbstract(h *sim.Hash) {
	if c.after != nil {
		h.Word(c.after.abstract)
	} else {
		h.Word(^c.before.abstract)
	}
}

// The rest is cache.SharedIndexInformer.

// AddEventHandler registers a handler; it is told of what is cached already.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	r := &registration{informer: i, handler: h}
	i.handlers = append(i.handlers, r)
	if i.synced {
		for _, o := range i.cache.List() {
			h.OnAdd(o, true)
		}
	}
	return r, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: resyncs are steps of the
// scenario ([Cluster.Resync]), not timers.
func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

// RemoveEventHandler unregisters a handler.
func (i *informer) RemoveEventHandler(h cache.ResourceEventHandlerRegistration) error {
	r, ok := h.(*registration)
	if !ok || r.informer != i {
		return errors.New("host: not a handler of this informer")
	}
	r.gone = true
	return nil
}

// GetStore and GetIndexer return the cache.
func (i *informer) GetStore() cache.Store     { return i.cache }
func (i *informer) GetIndexer() cache.Indexer { return i.cache }

// AddIndexers adds indexes to the cache.
func (i *informer) AddIndexers(x cache.Indexers) error { return i.cache.AddIndexers(x) }

// HasSynced reports whether the initial list was delivered.
func (i *informer) HasSynced() bool { return i.synced }

// LastSyncResourceVersion is the newest revision delivered.
func (i *informer) LastSyncResourceVersion() string { return i.cache.LastStoreSyncResourceVersion() }

// Run and RunWithContext have nothing to do: the scheduler delivers.
func (i *informer) Run(<-chan struct{})            {}
func (i *informer) RunWithContext(context.Context) {}

// IsStopped reports whether the process is down.
func (i *informer) IsStopped() bool { return i.process.Down }

// GetController returns a controller that only knows whether it has synced.
func (i *informer) GetController() cache.Controller { return controllerStub{i} }

// HasSyncedChecker returns a checker whose channel is closed once synced.
func (i *informer) HasSyncedChecker() cache.DoneChecker { return doneChecker{i} }

// The following have no meaning without a connection; they are accepted as the
// interface demands, except a transform, which would change what is cached.
func (i *informer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }
func (i *informer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}
func (i *informer) SetTransform(cache.TransformFunc) error {
	return errors.New("host: transforms are not supported: cached objects are the server's own versions")
}

type controllerStub struct{ i *informer }

func (c controllerStub) Run(<-chan struct{})                 {}
func (c controllerStub) RunWithContext(context.Context)      {}
func (c controllerStub) HasSynced() bool                     { return c.i.synced }
func (c controllerStub) HasSyncedChecker() cache.DoneChecker { return doneChecker{c.i} }
func (c controllerStub) LastSyncResourceVersion() string     { return c.i.LastSyncResourceVersion() }

type doneChecker struct{ i *informer }

func (d doneChecker) Name() string { return d.i.kind.Resource }
func (d doneChecker) Done() <-chan struct{} {
	ch := make(chan struct{})
	if d.i.synced {
		close(ch)
	}
	return ch
}

// kindState is what the cluster knows of one kind: the latest version of every
// key, the log of changes, and digests over what is stored.
type kindState struct {
	kind            *fakeapi.Kind
	salt            uint64
	latest          map[string]*version // a removed key keeps its last, objectless version
	log             []change
	base            int    // position of log[0]
	forgotten       uint64 // revision of the change before log[0]; 0 when there is none
	exact, abstract uint64
	buf             []byte // for look-ups
}

func (s *kindState) end() int           { return s.base + len(s.log) }
func (s *kindState) at(pos int) *change { return &s.log[pos-s.base] }

// current returns the latest version of an object, without allocating; nil when
// there never was one.
func (s *kindState) current(namespace, name string) *version {
	s.buf = s.buf[:0]
	if namespace != "" {
		s.buf = append(append(s.buf, namespace...), '/')
	}
	s.buf = append(s.buf, name...)
	return s.latest[string(s.buf)]
}

// commit wraps a stored change and appends it to the log.
func (s *kindState) commit(key string, after runtime.Object, rv uint64, cause int) {
	old := s.latest[key]
	n := uint32(1)
	if old != nil {
		n = old.n + 1
		s.exact -= sim.Mix(old.exact)
		if old.obj != nil {
			s.abstract -= sim.Mix(old.abstract)
		}
	}
	v := newVersion(s.salt, key, n, after)
	s.latest[key] = v
	s.exact += sim.Mix(v.exact)
	c := change{version: rv, cause: cause, after: v}
	if after == nil {
		c.after = nil
	} else {
		s.abstract += sim.Mix(v.abstract)
	}
	if old != nil && old.obj != nil {
		c.before = old
	}
	s.log = append(s.log, c)
}

// forget drops changes that everybody has been delivered, where the world keeps
// only the last steps of its history: as many as it keeps records stay.
func (c *Cluster) forget(s *kindState) {
	keep := c.world.History.Forget
	if keep == 0 {
		return
	}
	if v := c.server.Version(); v >= c.compacted+2*uint64(keep) {
		c.compacted = v - uint64(keep)
		c.server.Compact(c.compacted)
	}
	drop := len(s.log) - keep
	for _, p := range c.processes {
		if i := p.informers[s.kind]; i != nil && i.synced && !p.Down {
			drop = min(drop, i.cursor-s.base)
		}
	}
	if drop < keep {
		return
	}
	s.forgotten = s.log[drop-1].version
	n := copy(s.log, s.log[drop:])
	clear(s.log[n:])
	s.log, s.base = s.log[:n], s.base+drop
}

// snapshot returns the objects at a revision in key order, and the position in
// the log of the first change after it.
func (s *kindState) snapshot(rv uint64) ([]*version, int) {
	next := sort.Search(len(s.log), func(i int) bool { return s.log[i].version > rv })
	state := make(map[string]*version, len(s.latest))
	for _, k := range sortedKeys(s.latest) {
		if v := s.latest[k]; v.obj != nil {
			state[k] = v
		}
	}
	for i := len(s.log) - 1; i >= next; i-- {
		c := &s.log[i]
		if c.before != nil {
			state[c.key()] = c.before
		} else {
			delete(state, c.key())
		}
	}
	out := make([]*version, 0, len(state))
	for _, k := range sortedKeys(state) {
		out = append(out, state[k])
	}
	return out, s.base + next
}
