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

// running are the informers of a factory, in the order in which they were asked for.
type running[K comparable] struct {
	mu       sync.Mutex
	informer map[K]cache.SharedIndexInformer
	order    []K
	started  int // of these
	closed   bool
	run      sync.WaitGroup
}

func newRunning[K comparable]() *running[K] {
	return &running[K]{informer: map[K]cache.SharedIndexInformer{}}
}

// get is the informer of a key.
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

// StartWithContext starts those that do not run.
func (r *running[K]) StartWithContext(ctx context.Context) {
	r.start(func(i cache.SharedIndexInformer) { i.RunWithContext(ctx) })
}

// Start is StartWithContext.
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

// WaitForCacheSync waits until those that run have listed, and says which did.
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

// Shutdown waits until those that run have stopped, and lets none start any more.
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

// ForResource is the informer of a resource.
func (f byResource) ForResource(of schema.GroupVersionResource) informers.GenericInformer {
	return generic{f.get(of, func() cache.SharedIndexInformer {
		i := anew(f.make(of).Informer())
		i.synced = newGate("informer of " + of.String()) // what it is of is untyped, and does not say
		return i
	}), of.GroupResource()}
}

// MetadataInformers is [Informers] of objects' metadata, as metadatainformer's factory.
func MetadataInformers(client metadata.Interface, resync time.Duration) metadatainformer.SharedInformerFactory {
	return byResource{newRunning[schema.GroupVersionResource](),
		metadatainformer.NewSharedInformerFactory(client, resync).ForResource}
}

// DynamicInformers is [Informers] of any objects, as dynamicinformer's factory.
func DynamicInformers(client dynamic.Interface, resync time.Duration) dynamicinformer.DynamicSharedInformerFactory {
	return byResource{newRunning[schema.GroupVersionResource](),
		dynamicinformer.NewDynamicSharedInformerFactory(client, resync).ForResource}
}
