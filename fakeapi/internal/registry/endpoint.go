package registry

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var endpoints = goType[corev1.Endpoints, corev1.EndpointsList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("Endpoints"), Resource: "endpoints", Singular: "endpoints",
	ShortNames: []string{"ep"},
	Namespaced: true, CreateOnUpdate: true, Default: On(defaultEndpoints),
	Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		Prefix:         "services/endpoints",
		ValidateCreate: Check(validation.Endpoints),
		WarnCreate:     func(obj runtime.Object) []string { return validation.WarnAddresses(obj.(*corev1.Endpoints)) },
		Main: Update{
			Validate: Compare(func(e, _ *corev1.Endpoints) field.ErrorList { return validation.Endpoints(e) }),
			Warn:     func(obj, _ runtime.Object) []string { return validation.WarnAddresses(obj.(*corev1.Endpoints)) },
			again:    checks{onUpdate, onCreate},
		},
	},
})

func defaultEndpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		for j := range e.Subsets[i].Ports {
			if p := &e.Subsets[i].Ports[j]; p.Protocol == "" {
				p.Protocol = corev1.ProtocolTCP
			}
		}
	}
}

var endpointSlices = goType[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList](&Kind{
	GVK:      discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice"),
	Resource: "endpointslices", Singular: "endpointslice", Namespaced: true, Default: On(defaultEndpointSlice),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(e *discoveryv1.EndpointSlice) {
			e.Generation = 1
			dropTopology(e, nil)
		}),
		ValidateCreate: Check(validation.EndpointSlice), WarnCreate: Warns(validation.WarnNewSlice),
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
		}), Validate: Compare(validation.EndpointSliceUpdate), again: checks{onCreate},
			Warn: WarnsAgain(validation.WarnSlice)},
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

func defaultEndpointSlice(e *discoveryv1.EndpointSlice) {
	for i := range e.Ports {
		orDefault(&e.Ports[i].Name, "")
		orDefault(&e.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}
