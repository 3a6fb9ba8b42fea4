package registry

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// wholeMetadata is left alone by what writes nothing but a status.
var wholeMetadata = [][]string{{"metadata"}}
