package clusterapi

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	"sigs.k8s.io/cluster-api/feature"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/thirdparty/project"
)

// unconnected is a cache without connections to workload clusters. Its sources have no events.
type unconnected struct{ clustercache.ClusterCache }

func (unconnected) GetClusterSource(string, func(context.Context, client.Object) []ctrl.Request,
	...clustercache.GetClusterSourceOption) source.Source {
	return source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[ctrl.Request]) error { return nil })
}

func setUp(m ctrl.Manager) error {
	rand.Seed(1) // for generated names
	// This rate limit uses the real clock, which the simulation does not control.
	off := map[string]bool{string(feature.ReconcilerRateLimiting): false}
	if err := feature.MutableGates.SetFromMap(off); err != nil {
		return err
	}
	return (&machineset.Reconciler{Client: m.GetClient(), APIReader: m.GetAPIReader(), ClusterCache: unconnected{}}).
		SetupWithManager(context.Background(), m, controller.Options{})
}

func TestClusterAPI(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme,
		v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	all, err := controllerruntime.Controllers(scheme, setUp, controllerruntime.Options{
		Live: []client.Object{&apiextensionsv1.CustomResourceDefinition{}}})
	if err != nil {
		t.Fatal(err)
	}
	project.Test(t, project.Project{Module: "sigs.k8s.io/cluster-api", Controllers: all, Timed: true,
		Definitions: []string{"core/config/crd/bases/cluster.x-k8s.io_clusters.yaml",
			"core/config/crd/bases/cluster.x-k8s.io_machine*s.yaml"}})
}
