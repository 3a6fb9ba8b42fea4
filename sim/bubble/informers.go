package bubble

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apiserverinternal"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/extensions"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// Informers returns a factory of deterministic informers: see [NewInformer]. It replaces
// informers.NewSharedInformerFactory.
func Informers(client kubernetes.Interface, resync time.Duration) informers.SharedInformerFactory {
	return &factory{SharedInformerFactory: informers.NewSharedInformerFactory(client, resync), client: client,
		resync: resync, running: newRunning[reflect.Type]()}
}

// factory replaces every informer of client-go's factory.
type factory struct {
	informers.SharedInformerFactory // never started; it only makes the informers that this factory copies
	*running[reflect.Type]

	client kubernetes.Interface
	resync time.Duration
}

func (f *factory) InformerFor(of runtime.Object, make internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.get(reflect.TypeOf(of), func() cache.SharedIndexInformer { return unused(make(f.client, f.resync)) })
}

func (f *factory) ForResource(r schema.GroupVersionResource) (informers.GenericInformer, error) {
	i, err := f.SharedInformerFactory.ForResource(r)
	if err != nil {
		return nil, err
	}
	typed := i.Informer()
	of := f.get(reflect.TypeOf(madeOf(typed).of), func() cache.SharedIndexInformer { return unused(typed) })
	return generic{of, r.GroupResource()}, nil
}

func (f *factory) Start(stop <-chan struct{}) { f.running.Start(stop) }

func (f *factory) StartWithContext(ctx context.Context) { f.running.StartWithContext(ctx) }

func (f *factory) Shutdown() { f.running.Shutdown() }

func (f *factory) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return f.running.WaitForCacheSync(stop)
}

func (f *factory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	r := cache.SyncResult{Synced: f.running.WaitForCacheSync(ctx.Done())}
	for _, synced := range r.Synced {
		if !synced {
			r.Err = context.Cause(ctx)
		}
	}
	return r
}

type generic struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

func (g generic) Informer() cache.SharedIndexInformer { return g.informer }

func (g generic) Lister() cache.GenericLister {
	return cache.NewGenericLister(g.informer.GetIndexer(), g.resource)
}

func (f *factory) Admissionregistration() admissionregistration.Interface {
	return admissionregistration.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Internal() apiserverinternal.Interface {
	return apiserverinternal.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Apps() apps.Interface { return apps.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Autoscaling() autoscaling.Interface {
	return autoscaling.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Batch() batch.Interface { return batch.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Certificates() certificates.Interface {
	return certificates.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Coordination() coordination.Interface {
	return coordination.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Core() core.Interface           { return core.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Discovery() discovery.Interface { return discovery.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Events() events.Interface       { return events.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Extensions() extensions.Interface {
	return extensions.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Flowcontrol() flowcontrol.Interface {
	return flowcontrol.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Networking() networking.Interface {
	return networking.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Node() node.Interface         { return node.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Policy() policy.Interface     { return policy.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Rbac() rbac.Interface         { return rbac.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Resource() resource.Interface { return resource.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Scheduling() scheduling.Interface {
	return scheduling.New(f, metav1.NamespaceAll, nil)
}
func (f *factory) Storage() storage.Interface { return storage.New(f, metav1.NamespaceAll, nil) }
func (f *factory) Storagemigration() storagemigration.Interface {
	return storagemigration.New(f, metav1.NamespaceAll, nil)
}

// running holds a factory's informers in the order of their first use.
type running[K comparable] struct {
	mu       sync.Mutex
	informer map[K]cache.SharedIndexInformer
	order    []K
	started  int // how many informers have been started
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

// WaitForCacheSync waits until all started informers have read their first list, or stop is closed. The result is true
// for the informers that have read it.
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

// Shutdown waits until the running informers have stopped. No informer can start afterwards.
func (r *running[K]) Shutdown() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.run.Wait()
}

type byResource struct {
	*running[schema.GroupVersionResource]
	make func(schema.GroupVersionResource) informers.GenericInformer
}

func (f byResource) ForResource(of schema.GroupVersionResource) informers.GenericInformer {
	return generic{f.get(of, func() cache.SharedIndexInformer {
		i := unused(f.make(of).Informer())
		i.synced = newGate("informer of " + of.String()) // the name of an untyped informer must contain the resource
		return i
	}), of.GroupResource()}
}

// MetadataInformers returns a factory of deterministic informers of metadata: see [Informers]. It replaces
// metadatainformer.NewSharedInformerFactory.
func MetadataInformers(client metadata.Interface, resync time.Duration) metadatainformer.SharedInformerFactory {
	return byResource{newRunning[schema.GroupVersionResource](),
		metadatainformer.NewSharedInformerFactory(client, resync).ForResource}
}

// DynamicInformers returns a factory of deterministic informers of unstructured objects: see [Informers]. It replaces
// dynamicinformer.NewDynamicSharedInformerFactory.
func DynamicInformers(client dynamic.Interface, resync time.Duration) dynamicinformer.DynamicSharedInformerFactory {
	return byResource{newRunning[schema.GroupVersionResource](),
		dynamicinformer.NewDynamicSharedInformerFactory(client, resync).ForResource}
}

// made holds the arguments with which a client-go informer was made.
type made struct {
	lw        cache.ListerWatcher
	of        runtime.Object
	resync    time.Duration
	transform cache.TransformFunc
}

// madeOf reads the arguments of a client-go informer from its unexported fields, because client-go's factories do not
// return these arguments. It panics if the version of client-go has other fields.
func madeOf(i cache.SharedIndexInformer) (m made) {
	of := reflect.ValueOf(i)
	if of.Type().String() != "*cache.sharedIndexInformer" {
		panic(fmt.Sprintf("bubble: %T is no informer of client-go's", i))
	}
	read(of, "listerWatcher", &m.lw)
	read(of, "objectType", &m.of)
	read(of, "defaultEventHandlerResyncPeriod", &m.resync)
	read(of, "transform", &m.transform)
	return m
}

// read copies a field to *into. The parameter of is a pointer to the struct.
func read[T any](of reflect.Value, name string, into *T) {
	f := of.Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("bubble: client-go's informer has no %s that is a %v", name, reflect.TypeFor[T]()))
	}
	*into = *(*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// unused returns a deterministic informer with the arguments of a client-go informer.
func unused(i cache.SharedIndexInformer) *informer {
	m := madeOf(i)
	of := NewInformer(m.lw, m.of, m.resync, i.GetIndexer().GetIndexers()).(*informer)
	of.transform = m.transform
	return of
}
