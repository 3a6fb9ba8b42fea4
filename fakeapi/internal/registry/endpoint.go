package registry

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	discoverydefaults "k8s.io/kubernetes/pkg/apis/discovery/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var endpoints = goType[corev1.Endpoints, corev1.EndpointsList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Endpoints"), Resource: "endpoints", Singular: "endpoints",
	ShortNames: []string{"ep"},
	Namespaced: true, CreateOnUpdate: true, Default: On(coredefaults.SetObjectDefaults_Endpoints),
	Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	strategy: strategy{
		Prefix: "services/endpoints",
		Create: validation.Endpoints.Create,
		Main: Update{
			Judge: validation.Endpoints.Update,
		},
	},
})

var endpointSlices = goType[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList](&Kind{
	GVK:      discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
	Resource: "endpointslices", Singular: "endpointslice", Namespaced: true, Default: On(discoverydefaults.SetObjectDefaults_EndpointSlice),
	strategy: strategy{
		PrepareCreate: On(func(e *discoveryv1.EndpointSlice) {
			e.Generation = 1
			dropTopology(e, nil)
		}),
		Create: validation.EndpointSlice.Create,
		Canonicalize: On(func(e *discoveryv1.EndpointSlice) {
			e.Endpoints, e.Ports = orNil(e.Endpoints), orNil(e.Ports)
		}),
		Main: Update{Prepare: Over(func(e, old *discoveryv1.EndpointSlice) {
			now, was := *e, *old
			now.ObjectMeta, was.ObjectMeta = metav1.ObjectMeta{}, metav1.ObjectMeta{}
			if !equality.Semantic.DeepEqual(now, was) || !maps.Equal(e.Labels, old.Labels) {
				e.Generation = old.Generation + 1
			}
			dropTopology(e, old.Endpoints)
		}), Judge: validation.EndpointSlice.Update},
	},
})

// dropTopology drops what only an older version has, unless all of it was there already.
func dropTopology(e *discoveryv1.EndpointSlice, old []discoveryv1.Endpoint) {
	for i := range e.Endpoints {
		if e.Endpoints[i].DeprecatedTopology == nil {
			continue
		}
		if equality.Semantic.DeepEqual(e.Endpoints, old) {
			return
		}
		own := append([]discoveryv1.Endpoint(nil), e.Endpoints...)
		for j := range own {
			own[j].DeprecatedTopology = nil
		}
		e.Endpoints = own
		return
	}
}
