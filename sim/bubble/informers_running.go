package bubble

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// running holds the informers of a factory in the order of their first use.
type running[K comparable] struct {
	mu       sync.Mutex
	informer map[K]cache.SharedIndexInformer
	order    []K
	started  int // how many of them
	closed   bool
	run      sync.WaitGroup
}

func newRunning[K comparable]() *running[K] {
	return &running[K]{informer: map[K]cache.SharedIndexInformer{}}
}

func (r *running[K]) get(key K, make func() cache.SharedIndexInformer) cache.SharedIndexInformer {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.informer[key]
	if i == nil {
		i = make()
		r.informer[key], r.order = i, append(r.order, key)
	}
	return i
}

func (r *running[K]) StartWithContext(ctx context.Context) {
	r.start(func(i cache.SharedIndexInformer) { i.RunWithContext(ctx) })
}

func (r *running[K]) Start(stop <-chan struct{}) {
	r.start(func(i cache.SharedIndexInformer) { i.Run(stop) })
}

func (r *running[K]) start(run func(cache.SharedIndexInformer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	for ; r.started < len(r.order); r.started++ {
		i := r.informer[r.order[r.started]]
		r.run.Go(func() { run(i) })
	}
}

// WaitForCacheSync waits until the running informers have listed, and returns which did.
func (r *running[K]) WaitForCacheSync(stop <-chan struct{}) map[K]bool {
	r.mu.Lock()
	keys := r.order[:r.started:r.started]
	r.mu.Unlock()
	synced := map[K]bool{}
	for _, k := range keys {
		r.mu.Lock()
		i := r.informer[k]
		r.mu.Unlock()
		select {
		case <-i.HasSyncedChecker().Done():
		case <-stop:
		}
		synced[k] = i.HasSynced()
	}
	return synced
}

// Shutdown waits until the running informers have stopped. No more can start.
func (r *running[K]) Shutdown() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.run.Wait()
}

// byResource is a factory of informers by resource.
type byResource struct {
	*running[schema.GroupVersionResource]
	make func(schema.GroupVersionResource) informers.GenericInformer
}

func (f byResource) ForResource(of schema.GroupVersionResource) informers.GenericInformer {
	return generic{f.get(of, func() cache.SharedIndexInformer {
		i := anew(f.make(of).Informer())
		i.synced = newGate("informer of " + of.String()) // an untyped object does not name its kind
		return i
	}), of.GroupResource()}
}

// MetadataInformers makes a factory of informers of objects' metadata, like metadatainformer's: see
// [Informers].
func MetadataInformers(client metadata.Interface, resync time.Duration) metadatainformer.SharedInformerFactory {
	return byResource{newRunning[schema.GroupVersionResource](),
		metadatainformer.NewSharedInformerFactory(client, resync).ForResource}
}

// DynamicInformers makes a factory of informers of any objects, like dynamicinformer's: see [Informers].
func DynamicInformers(client dynamic.Interface, resync time.Duration) dynamicinformer.DynamicSharedInformerFactory {
	return byResource{newRunning[schema.GroupVersionResource](),
		dynamicinformer.NewDynamicSharedInformerFactory(client, resync).ForResource}
}
