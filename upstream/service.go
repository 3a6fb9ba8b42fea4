package upstream

import (
	"context"
	"net"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
	"k8s.io/kubernetes/pkg/registry/core/service/portallocator"
	servicestore "k8s.io/kubernetes/pkg/registry/core/service/storage"

	"github.com/threelaws/threelaws/fakeapi"
)

// Where the addresses and node ports of Services are from, as kubeadm has it: the Service
// of the server itself is among them.
var (
	serviceRange = net.IPNet{IP: net.IPv4(10, 96, 0, 0).To4(), Mask: net.CIDRMask(12, 32)}
	nodePorts    = utilnet.PortRange{Base: 30000, Size: 2768}
)

// beginService gives a Service addresses and ports that no other has. The allocators are made of
// what is stored, for each request anew: the server may have been forked, and what was
// refused after it had been given an address keeps none.
func beginService(a *fakeapi.Act, obj, old runtime.Object) error {
	addresses, err := ipallocator.NewInMemory(&serviceRange)
	if err != nil {
		return err
	}
	ports, err := portallocator.NewInMemory(nodePorts)
	if err != nil {
		return err
	}
	a.Server.Each(a.Kind, func(obj runtime.Object) bool {
		take(obj.(*corev1.Service), addresses, ports)
		return true
	})
	store, _, _, err := servicestore.NewREST(noStorage{}, core.IPv4Protocol,
		map[core.IPFamily]ipallocator.Interface{core.IPv4Protocol: addresses}, ports, nil, nil, nil)
	if err != nil {
		return err
	}
	var dryRun []string
	if a.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	finish, err := beginning(store.Store, requestContext(a, "create"), obj, old, dryRun)
	if err != nil {
		return err
	}
	finish(context.Background(), true)
	return nil
}

func beginning(s *genericregistry.Store, ctx context.Context, obj, old runtime.Object,
	dryRun []string) (genericregistry.FinishFunc, error) {
	if old == nil {
		return s.BeginCreate(ctx, obj, &metav1.CreateOptions{DryRun: dryRun})
	}
	return s.BeginUpdate(ctx, obj, old, &metav1.UpdateOptions{DryRun: dryRun})
}

// take takes what a stored Service has. An error says that it was taken already, or
// is from elsewhere: nobody else can have it either way.
func take(s *corev1.Service, addresses ipallocator.Interface, ports portallocator.Interface) {
	for _, text := range s.Spec.ClusterIPs {
		if ip := net.ParseIP(text); ip != nil {
			_ = addresses.Allocate(ip)
		}
	}
	for i := range s.Spec.Ports {
		if n := s.Spec.Ports[i].NodePort; n != 0 {
			_ = ports.Allocate(int(n))
		}
	}
	if n := s.Spec.HealthCheckNodePort; n != 0 {
		_ = ports.Allocate(int(n))
	}
}

// noStorage says to a registry that what it stores is stored elsewhere.
type noStorage struct{}

// GetRESTOptions implements generic.RESTOptionsGetter.
func (noStorage) GetRESTOptions(r schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	return generic.RESTOptions{
		StorageConfig:  &storagebackend.ConfigForResource{GroupResource: r},
		ResourcePrefix: r.String(),
		Decorator: func(_ *storagebackend.ConfigForResource, _ string, _ func(runtime.Object) (string, error),
			_, _ func() runtime.Object, _ storage.AttrFunc, _ storage.IndexerFuncs,
			_ *cache.Indexers) (storage.Interface, factory.DestroyFunc, error) {
			return nil, func() {}, nil
		},
	}, nil
}
