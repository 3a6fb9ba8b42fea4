package registry

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var ingresses = goType[networkingv1.Ingress, networkingv1.IngressList](&Kind{
	GVK: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Resource: "ingresses", Singular: "ingress",
	ShortNames: []string{"ing"}, Namespaced: true, Status: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Prefix:   "ingress",
		PrepareCreate: On(func(i *networkingv1.Ingress) {
			i.Status, i.Generation = networkingv1.IngressStatus{}, 1
		}),
		ValidateCreate: Check(validation.NewIngress),
		WarnCreate: func(obj runtime.Object) []string {
			return validation.WarnIngress(obj.(*networkingv1.Ingress))
		},
		Main: Update{
			Prepare: both(Over(func(i, old *networkingv1.Ingress) { i.Status = old.Status }),
				Recount(func(i *networkingv1.Ingress) any { return i.Spec })),
			Validate: again(validation.Ingress), again: checks{onUpdate, onCreate},
		},
		ForStatus: Update{
			Prepare:  Over(func(i, old *networkingv1.Ingress) { i.Spec = old.Spec }),
			Validate: Compare(validation.IngressStatus), again: checks{onUpdate},
			Warn: WarnsAgain(validation.WarnIngressStatus),
		},
	},
})

var ingressClasses = goType[networkingv1.IngressClass, networkingv1.IngressClassList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("IngressClass"),
	Resource: "ingressclasses", Singular: "ingressclass",
	Default: On(func(c *networkingv1.IngressClass) {
		if p := c.Spec.Parameters; p != nil {
			orDefault(&p.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
		}
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, PrepareCreate: first,
		ValidateCreate: Check(validation.IngressClass),
		Main: Update{
			Prepare:  Recount(func(c *networkingv1.IngressClass) any { return c.Spec }),
			Validate: Compare(validation.IngressClassUpdate), again: checks{onUpdate}, after: checks{onCreate},
			Last: again(validation.IngressClass),
		},
	},
})

var networkPolicies = goType[networkingv1.NetworkPolicy, networkingv1.NetworkPolicyList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"),
	Resource: "networkpolicies", Singular: "networkpolicy", ShortNames: []string{"netpol"},
	Namespaced: true, Default: On(defaultNetworkPolicy),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, PrepareCreate: first,
		ValidateCreate: Check(validation.NetworkPolicy), WarnCreate: Warns(validation.WarnNetworkPolicy),
		Canonicalize: asStored,
		Main: Update{
			Prepare:  RecountExactly(func(p *networkingv1.NetworkPolicy) any { return p.Spec }),
			Validate: again(validation.NetworkPolicy), again: checks{onUpdate},
			Warn: WarnsAgain(validation.WarnNetworkPolicy),
		},
	},
})

func defaultNetworkPolicy(p *networkingv1.NetworkPolicy) {
	if len(p.Spec.PolicyTypes) == 0 {
		p.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(p.Spec.Egress) > 0 {
			p.Spec.PolicyTypes = append(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	defaultPorts := func(ports []networkingv1.NetworkPolicyPort) {
		for i := range ports {
			orDefault(&ports[i].Protocol, corev1.ProtocolTCP)
		}
	}
	for i := range p.Spec.Ingress {
		defaultPorts(p.Spec.Ingress[i].Ports)
	}
	for i := range p.Spec.Egress {
		defaultPorts(p.Spec.Egress[i].Ports)
	}
}

var ipAddresses = goType[networkingv1.IPAddress, networkingv1.IPAddressList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("IPAddress"),
	Resource: "ipaddresses", Singular: "ipaddress", ShortNames: []string{"ip"},
	strategy: strategy{
		NameRule: validation.IPAddressName, ValidateCreate: Check(validation.IPAddress),
		Main: Update{
			Validate: again(validation.IPAddress), again: checks{onCreate}, after: checks{onUpdate},
			Last: Compare(validation.IPAddressUpdate),
		},
	},
})

var serviceCIDRs = goType[networkingv1.ServiceCIDR, networkingv1.ServiceCIDRList](&Kind{
	GVK:      networkingv1.SchemeGroupVersion.WithKind("ServiceCIDR"),
	Resource: "servicecidrs", Singular: "servicecidr", Status: true,
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		PrepareCreate:  On(func(c *networkingv1.ServiceCIDR) { c.Status = networkingv1.ServiceCIDRStatus{} }),
		ValidateCreate: Check(validation.ServiceCIDR),
		Main: Update{
			Prepare:  Over(func(c, old *networkingv1.ServiceCIDR) { c.Status = old.Status }),
			Validate: Compare(validation.ServiceCIDRUpdate), again: checks{onUpdate},
		},
		ForStatus: Update{
			Prepare: Over(func(c, old *networkingv1.ServiceCIDR) {
				c.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(c, old)
			}),
			again: checks{onUpdate},
		},
		ResetByStatus: wholeMetadata,
	},
})

// wholeMetadata is left alone by what writes nothing but a status.
var wholeMetadata = [][]string{{"metadata"}}
