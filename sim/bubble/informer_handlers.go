package bubble

import (
	"cmp"
	"errors"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
)

// gate is a [cache.DoneChecker] that is done after the first call of open.
type gate struct {
	name string
	once sync.Once
	c    chan struct{}
}

func newGate(name string) *gate { return &gate{name: name, c: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.c) }) }

func (g *gate) isOpen() bool {
	select {
	case <-g.c:
		return true
	default:
		return false
	}
}

func (g *gate) Name() string { return g.name }

func (g *gate) Done() <-chan struct{} { return g.c }

type sort int

const (
	added sort = iota
	updated
	deleted
	listed // not an event: the handler has now received all objects of the first list
)

// notice is one notification for a handler.
type notice struct {
	what     sort
	old, now any
	initial  bool
}

const shortest = time.Second // the shortest resync period that client-go allows

// handler receives notifications one after the other, on its own goroutine.
type handler struct {
	of     cache.ResourceEventHandler
	synced *gate

	resync time.Duration // the period of resyncs; 0 for none
	next   time.Time     // the time of the next resync
	due    bool          // the handler also gets unchanged objects; true until the first resync check, as in client-go

	mu     sync.Mutex
	more   *sync.Cond
	queue  []notice
	late   bool // notifications wait until begin is called
	closed bool
}

// HasSynced reports whether the handler has received all objects of the informer's first list. A handler that was added
// later must have received all objects that the cache contained at that time.
func (h *handler) HasSynced() bool { return h.synced.isOpen() }

func (h *handler) HasSyncedChecker() cache.DoneChecker { return h.synced }

func (h *handler) add(n notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = append(h.queue, n)
	h.more.Signal()
}

func (h *handler) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.late = false
	h.more.Signal()
}

func (h *handler) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.more.Signal()
}

func (h *handler) take() (n notice, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for (h.late || len(h.queue) == 0) && !h.closed {
		h.more.Wait()
	}
	if h.closed {
		return n, false
	}
	n, h.queue = h.queue[0], h.queue[1:]
	return n, true
}

func (h *handler) run() {
	for {
		n, ok := h.take()
		if !ok {
			return
		}
		h.tell(n)
	}
}

func (h *handler) tell(n notice) {
	defer runtime.HandleCrash()
	switch n.what {
	case added:
		h.of.OnAdd(n.now, n.initial)
	case updated:
		h.of.OnUpdate(n.old, n.now)
	case deleted:
		h.of.OnDelete(n.old)
	case listed:
		h.synced.open()
	}
}

func (i *informer) AddEventHandler(of cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(of, cache.HandlerOptions{})
}

func (i *informer) AddEventHandlerWithResyncPeriod(of cache.ResourceEventHandler, resync time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(of, cache.HandlerOptions{ResyncPeriod: &resync})
}

// AddEventHandlerWithOptions adds a handler. A handler added to a running informer receives all objects after a
// delay: see [informer.after].
func (i *informer) AddEventHandlerWithOptions(of cache.ResourceEventHandler, o cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return nil, errors.New("a handler was not added to a shared informer because it has stopped already")
	}
	h := &handler{of: of, resync: i.resync, due: true, synced: newGate(i.synced.name + " + event handler")}
	h.more = sync.NewCond(&h.mu)
	if o.ResyncPeriod != nil {
		h.resync = *o.ResyncPeriod
	}
	i.look(h)
	i.handlers = append(i.handlers, h)
	if i.reads == nil {
		return h, nil
	}
	for _, obj := range i.cache.List() {
		h.add(notice{what: added, now: obj, initial: true})
	}
	if i.synced.isOpen() {
		h.add(notice{what: listed})
	}
	h.late = true
	time.AfterFunc(i.after(), h.begin)
	i.telling.Go(h.run)
	return h, nil
}

// after returns the delay of a handler that is added to a running informer: at most a millisecond. The delay differs
// between kinds. A manager's sources check every tenth of a second whether their cache is filled, and then add their
// handlers. Timers that are due at the same time fire in random order, so equal delays would order the kinds at random.
func (i *informer) after() time.Duration {
	h := fnv.New32a()
	h.Write([]byte(i.synced.name))
	return time.Duration(1 + h.Sum32()%uint32(time.Millisecond))
}

// look sets the resync period of a new handler, and the period of the informer's resync checks. An informer without
// resyncs never checks. The checks of a running informer do not become more frequent for a new handler.
func (i *informer) look(newcomer *handler) {
	every := &i.config.FullResyncPeriod
	switch {
	case *every == 0:
		newcomer.resync = 0
	case newcomer.resync == 0:
	case i.reads != nil:
		newcomer.resync = max(newcomer.resync, *every)
	default:
		newcomer.resync = max(newcomer.resync, shortest)
		*every = min(*every, newcomer.resync)
	}
	newcomer.next = time.Now().Add(newcomer.resync)
}

func (i *informer) RemoveEventHandler(r cache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if h, ok := r.(*handler); ok {
		h.close()
		i.handlers = slices.DeleteFunc(i.handlers, func(one *handler) bool { return one == h })
	}
	return nil
}

// sortedIndexer is a cache that lists in the order of names. client-go's caches list in the order of a map.
type sortedIndexer struct{ cache.Indexer }

func sorted(objects []any) []any {
	slices.SortFunc(objects, func(a, b any) int {
		x, isObject := a.(metav1.Object)
		y, too := b.(metav1.Object)
		if !isObject || !too {
			return 0
		}
		return cmp.Or(cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
	return objects
}

func (s sortedIndexer) List() []any { return sorted(s.Indexer.List()) }

func (s sortedIndexer) ListKeys() []string { return slices.Sorted(slices.Values(s.Indexer.ListKeys())) }

func (s sortedIndexer) Index(name string, obj any) ([]any, error) {
	objects, err := s.Indexer.Index(name, obj)
	return sorted(objects), err
}

func (s sortedIndexer) ByIndex(name, value string) ([]any, error) {
	objects, err := s.Indexer.ByIndex(name, value)
	return sorted(objects), err
}

func (s sortedIndexer) IndexKeys(name, value string) ([]string, error) {
	keys, err := s.Indexer.IndexKeys(name, value)
	slices.Sort(keys)
	return keys, err
}

func (s sortedIndexer) ListIndexFuncValues(name string) []string {
	return slices.Sorted(slices.Values(s.Indexer.ListIndexFuncValues(name)))
}
