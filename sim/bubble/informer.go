package bubble

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// NewInformer returns a deterministic shared informer, to replace cache.NewSharedIndexInformer. Its cache lists in the
// order of names, and it calls its handlers in a fixed order. client-go's own informer makes random choices between
// notifications. For a manager of controller-runtime, set cache.Options.NewInformer to NewInformer.
func NewInformer(lw cache.ListerWatcher, of runtime.Object, resync time.Duration, by cache.Indexers,
) cache.SharedIndexInformer {
	name := fmt.Sprintf("informer of %T", of)
	if of != nil { // %T is not unique: types of two groups may have equal names, and all untyped objects have one type
		name += " of " + reflect.Indirect(reflect.ValueOf(of)).Type().PkgPath() + " " +
			of.GetObjectKind().GroupVersionKind().String()
	}
	i := &informer{resync: resync, synced: newGate(name),
		cache: sortedIndexer{cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, by)}}
	i.config = cache.Config{ListerWatcher: lw, ObjectType: of, ShouldResync: i.due, Process: i.take,
		FullResyncPeriod: resync}
	return i
}

// informer uses client-go's reflector, queue and store. It calls its handlers in a fixed order.
type informer struct {
	config    cache.Config
	cache     sortedIndexer
	transform cache.TransformFunc
	resync    time.Duration // the period of resyncs for handlers that set none
	synced    *gate

	mu       sync.Mutex // held only for a short time, never while a handler is called
	reads    cache.Controller
	stopped  bool
	handlers []*handler
	telling  sync.WaitGroup
}

var errStarted = errors.New("informer has already started")

func (i *informer) RunWithContext(ctx context.Context) {
	if !i.start() {
		return
	}
	i.telling.Go(func() {
		select {
		case <-ctx.Done():
		case <-i.reads.HasSyncedChecker().Done():
			i.mu.Lock()
			defer i.mu.Unlock()
			i.synced.open()
			for _, h := range i.handlers {
				h.add(notice{what: listed})
			}
		}
	})
	i.reads.RunWithContext(ctx)
	i.mu.Lock()
	i.stopped = true
	for _, h := range i.handlers {
		h.close()
	}
	i.mu.Unlock()
	i.telling.Wait()
}

// start creates the controller that lists and watches. It returns false if the informer was started before.
func (i *informer) start() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reads != nil {
		return false
	}
	o := cache.RealFIFOOptions{Transformer: i.transform}
	if clientfeatures.FeatureGates().Enabled(clientfeatures.AtomicFIFO) {
		o.AtomicEvents, o.EmitDeltaTypeBookmark = true, true
	} else {
		o.KnownObjects = i.cache
	}
	i.config.Queue = cache.NewRealFIFOWithOptions(o)
	for _, h := range i.handlers {
		i.telling.Go(h.run)
	}
	i.reads = cache.New(&i.config)
	return true
}

func (i *informer) Run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-stop
		cancel()
	}()
	i.RunWithContext(ctx)
}

// take stores the next item of the queue, and notifies the handlers.
func (i *informer) take(obj any, initial bool) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, d := range obj.(cache.Deltas) {
		if err := i.store(d, initial); err != nil {
			return err
		}
	}
	return nil
}

func (i *informer) store(d cache.Delta, initial bool) error {
	switch is := d.Object.(type) {
	case cache.ReplacedAllInfo:
		return i.replace(is, initial)
	case cache.SyncAllInfo:
		for _, o := range i.cache.List() {
			i.tell(notice{what: updated, old: o, now: o})
		}
		return nil
	case cache.BookmarkInfo:
		i.cache.Bookmark(is.ResourceVersion)
		return nil
	}
	n := notice{what: updated, now: d.Object}
	old, exists, err := i.cache.Get(d.Object)
	switch {
	case d.Type == cache.Deleted:
		n = notice{what: deleted, old: d.Object}
		err = i.cache.Delete(d.Object)
	case err != nil || !exists:
		n.what, n.initial = added, initial
		err = i.cache.Add(d.Object)
	default:
		n.old = old
		err = i.cache.Update(d.Object)
	}
	if err == nil {
		i.tell(n)
	}
	return err
}

// replace stores a list and its resource version, which may be newer than every listed object. Clients use this version
// to wait until the cache contains their own writes. Handlers get deletions first.
func (i *informer) replace(list cache.ReplacedAllInfo, initial bool) error {
	listed, told := map[string]bool{}, []notice{}
	for _, o := range list.Objects {
		key, err := cache.MetaNamespaceKeyFunc(o)
		if err != nil {
			return err
		}
		n := notice{what: added, now: o, initial: initial}
		if old, there, _ := i.cache.GetByKey(key); there {
			n = notice{what: updated, old: old, now: o}
		}
		listed[key], told = true, append(told, n)
	}
	var gone []notice
	for _, key := range i.cache.ListKeys() {
		if old, there, _ := i.cache.GetByKey(key); there && !listed[key] {
			gone = append(gone, notice{what: deleted, old: cache.DeletedFinalStateUnknown{Key: key, Obj: old}})
		}
	}
	if err := i.cache.Replace(list.Objects, list.ResourceVersion); err != nil {
		return err
	}
	for _, n := range append(gone, told...) {
		i.tell(n)
	}
	return nil
}

// tell notifies the handlers. An update without a change goes only to handlers that are due for a resync.
func (i *informer) tell(n notice) {
	again := n.what == updated && version(n.old) == version(n.now)
	for _, h := range i.handlers {
		if !again || h.due {
			h.add(n)
		}
	}
}

func version(obj any) string {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetResourceVersion()
}

// due marks the handlers that are due for a resync, and reports whether there are any.
func (i *informer) due() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	now, some := time.Now(), false
	for _, h := range i.handlers {
		if h.due = h.resync > 0 && !now.Before(h.next); h.due {
			h.next, some = now.Add(h.resync), true
		}
	}
	return some
}

func (i *informer) GetStore() cache.Store { return i.cache }

func (i *informer) GetIndexer() cache.Indexer { return i.cache }

func (i *informer) AddIndexers(by cache.Indexers) error { return i.cache.AddIndexers(by) }

func (i *informer) HasSynced() bool { return i.synced.isOpen() }

func (i *informer) HasSyncedChecker() cache.DoneChecker { return i.synced }

func (i *informer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

func (i *informer) LastSyncResourceVersion() string {
	i.mu.Lock()
	reads := i.reads
	i.mu.Unlock()
	if reads == nil {
		return ""
	}
	return reads.LastSyncResourceVersion()
}

func (i *informer) SetTransform(t cache.TransformFunc) error {
	return i.set(func() { i.transform = t })
}

func (i *informer) SetWatchErrorHandler(h cache.WatchErrorHandler) error {
	return i.set(func() { i.config.WatchErrorHandler = h })
}

func (i *informer) SetWatchErrorHandlerWithContext(h cache.WatchErrorHandlerWithContext) error {
	return i.set(func() { i.config.WatchErrorHandlerWithContext = h })
}

func (i *informer) set(f func()) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reads != nil {
		return errStarted
	}
	f()
	return nil
}

func (i *informer) GetController() cache.Controller { return reader{i} }

// reader is a controller for an informer that is already running. It only reads the informer's state: Run does nothing.
type reader struct{ *informer }

func (reader) Run(<-chan struct{}) {}

func (reader) RunWithContext(context.Context) {}
