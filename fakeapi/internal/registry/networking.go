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

var ingresses = goType[networkingv1.Ingress, networkingv1.IngressList](&Kind{
	GVK: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Resource: "ingresses", Singular: "ingress",
	ShortNames: []string{"ing"}, Namespaced: true, Status: true,
	strategy: strategy{
		Prefix: "ingress",
		PrepareCreate: On(func(i *networkingv1.Ingress) {
			i.Status, i.Generation = networkingv1.IngressStatus{}, 1
		}),
		Create: validation.Ingress.Create,
		Main: Update{
			Prepare: both(Over(func(i, old *networkingv1.Ingress) { i.Status = old.Status }),
				Recount(func(i *networkingv1.Ingress) any { return i.Spec })),
			Judge: validation.Ingress.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(i, old *networkingv1.Ingress) { i.Spec = old.Spec }),
			Judge:   validation.Ingress.Status,
		},
	},
})

var ingressClasses = goType[networkingv1.IngressClass, networkingv1.IngressClassList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("IngressClass"),
	Resource: "ingressclasses", Singular: "ingressclass",
	Default: On(networkingdefaults.SetObjectDefaults_IngressClass),
	strategy: strategy{
		PrepareCreate: first,
		Create:        validation.IngressClass.Create,
		Main: Update{
			Prepare: Recount(func(c *networkingv1.IngressClass) any { return c.Spec }),
			Judge:   validation.IngressClass.Update,
		},
	},
})

var networkPolicies = goType[networkingv1.NetworkPolicy, networkingv1.NetworkPolicyList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
	Resource: "networkpolicies", Singular: "networkpolicy", ShortNames: []string{"netpol"},
	Namespaced: true, Default: On(networkingdefaults.SetObjectDefaults_NetworkPolicy),
	strategy: strategy{
		PrepareCreate: first,
		Create:        validation.NetworkPolicy.Create,
		Canonicalize:  asStored,
		Main: Update{
			Prepare: RecountExactly(func(p *networkingv1.NetworkPolicy) any { return p.Spec }),
			Judge:   validation.NetworkPolicy.Update,
		},
	},
})

var ipAddresses = goType[networkingv1.IPAddress, networkingv1.IPAddressList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("IPAddress"),
	Resource: "ipaddresses", Singular: "ipaddress", ShortNames: []string{"ip"},
	strategy: strategy{
		Create: validation.IPAddress.Create,
		Main: Update{
			Judge: validation.IPAddress.Update,
		},
	},
})

var serviceCIDRs = goType[networkingv1.ServiceCIDR, networkingv1.ServiceCIDRList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("ServiceCIDR"),
	Resource: "servicecidrs", Singular: "servicecidr", Status: true,
	strategy: strategy{
		PrepareCreate: On(func(c *networkingv1.ServiceCIDR) { c.Status = networkingv1.ServiceCIDRStatus{} }),
		Create:        validation.ServiceCIDR.Create,
		Main: Update{
			Prepare: Over(func(c, old *networkingv1.ServiceCIDR) { c.Status = old.Status }),
			Judge:   validation.ServiceCIDR.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(c, old *networkingv1.ServiceCIDR) {
				c.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(c, old)
			}),
			Judge: validation.ServiceCIDR.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})

// wholeMetadata is reset by writes to the status.
var wholeMetadata = [][]string{{"metadata"}}

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

// dropTopology drops the topology of the older version unless it was already there.
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
