package registry

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	discoverydefaults "k8s.io/kubernetes/pkg/apis/discovery/v1"
	networkingdefaults "k8s.io/kubernetes/pkg/apis/networking/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var ingresses = kind[networkingv1.Ingress, networkingv1.IngressList](networkingv1.SchemeGroupVersion,
	validation.Ingress, &Row{Counts: "Spec", Prefix: "ingress"})

var ingressClasses = kind[networkingv1.IngressClass, networkingv1.IngressClassList](networkingv1.SchemeGroupVersion,
	validation.IngressClass, &Row{Counts: "Spec", Default: On(networkingdefaults.SetObjectDefaults_IngressClass)})

var networkPolicies = kind[networkingv1.NetworkPolicy, networkingv1.NetworkPolicyList](networkingv1.SchemeGroupVersion,
	validation.NetworkPolicy, &Row{
		Counts: "Spec", Exactly: true, Default: On(networkingdefaults.SetObjectDefaults_NetworkPolicy),
		Canonicalize: asStored,
	})

var ipAddresses = kind[networkingv1.IPAddress, networkingv1.IPAddressList](networkingv1.SchemeGroupVersion,
	validation.IPAddress, &Row{})

var serviceCIDRs = kind[networkingv1.ServiceCIDR, networkingv1.ServiceCIDRList](networkingv1.SchemeGroupVersion,
	validation.ServiceCIDR, &Row{StatusOnly: true})

var endpoints = kind[corev1.Endpoints, corev1.EndpointsList](corev1.SchemeGroupVersion, validation.Endpoints, &Row{
	CreateOnUpdate: true, Default: On(coredefaults.SetObjectDefaults_Endpoints), Prefix: "services/endpoints",
	Deprecated: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
})

var endpointSlices = kind[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList](discoveryv1.SchemeGroupVersion,
	validation.EndpointSlice, &Row{
		Default: On(discoverydefaults.SetObjectDefaults_EndpointSlice),
		PrepareCreate: On(func(e *discoveryv1.EndpointSlice) {
			e.Generation = 1
			dropTopology(e, nil)
		}),
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
		})},
	})

// dropTopology clears DeprecatedTopology, a field of v1beta1, in all endpoints, unless the endpoints are unchanged.
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
