package bubble

import (
	"context"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	"k8s.io/client-go/tools/cache"
)

// Informers makes a factory of shared informers, like informers.NewSharedInformerFactory, but of
// [NewInformer]'s informers. A program that uses the factory is deterministic.
func Informers(client kubernetes.Interface, resync time.Duration) informers.SharedInformerFactory {
	return &factory{SharedInformerFactory: informers.NewSharedInformerFactory(client, resync), client: client,
		resync: resync, running: newRunning[reflect.Type]()}
}

// factory replaces every informer. The typed ones come through InformerFor.
type factory struct {
	informers.SharedInformerFactory // makes informers to copy, and starts none
	*running[reflect.Type]

	client kubernetes.Interface
	resync time.Duration
}

func (f *factory) InformerFor(of runtime.Object, make internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.get(reflect.TypeOf(of), func() cache.SharedIndexInformer { return anew(make(f.client, f.resync)) })
}

func (f *factory) ForResource(r schema.GroupVersionResource) (informers.GenericInformer, error) {
	i, err := f.SharedInformerFactory.ForResource(r)
	if err != nil {
		return nil, err
	}
	typed := i.Informer()
	of := f.get(reflect.TypeOf(madeOf(typed).of), func() cache.SharedIndexInformer { return anew(typed) })
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
