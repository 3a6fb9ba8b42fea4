package validation

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// IngressClass checks the controller of a class and its parameters.
func IngressClass(c *networkingv1.IngressClass) (errs field.ErrorList) {
	const most = 250
	if len(c.Spec.Controller) > most {
		errs = append(errs, field.TooLong(specPath.Child("controller"), "", most))
	}
	errs = append(errs, utilvalidation.IsDomainPrefixedPath(specPath.Child("controller"), c.Spec.Controller)...)
	if c.Spec.Parameters != nil {
		errs = append(errs, validateParametersRef(c.Spec.Parameters, specPath.Child("parameters"))...)
	}
	return errs
}

// IngressClassUpdate checks that the controller stays the same.
func IngressClassUpdate(c, old *networkingv1.IngressClass) field.ErrorList {
	return apivalidation.ValidateImmutableField(c.Spec.Controller, old.Spec.Controller, specPath.Child("controller"))
}

func validateParametersRef(p *networkingv1.IngressClassParametersReference, path *field.Path) field.ErrorList {
	errs := validateLocalRef(p.APIGroup, p.Kind, p.Name, path)
	if p.Scope == nil {
		return append(errs, field.Required(path.Child("scope"), ""))
	}
	const cluster, namespace = networkingv1.IngressClassParametersReferenceScopeCluster,
		networkingv1.IngressClassParametersReferenceScopeNamespace
	switch *p.Scope {
	case namespace:
		if p.Namespace == nil {
			errs = append(errs, field.Required(path.Child("namespace"), "`parameters.scope` is set to 'Namespace'"))
		} else {
			errs = append(errs, named(*p.Namespace, path.Child("namespace"), apivalidation.ValidateNamespaceName)...)
		}
	case cluster:
		if p.Namespace != nil {
			errs = append(errs, field.Forbidden(path.Child("namespace"), "`parameters.scope` is set to 'Cluster'"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("scope"), *p.Scope, []string{cluster, namespace}))
	}
	return errs
}

// validateLocalRef checks a reference to an object of some kind.
func validateLocalRef(group *string, kind, name string, path *field.Path) (errs field.ErrorList) {
	if group != nil {
		errs = named(*group, path.Child("apiGroup"), plain(utilvalidation.IsDNS1123Subdomain))
	}
	errs = append(errs, mustName(kind, path.Child("kind"), metadata.PathSegment)...)
	return append(errs, mustName(name, path.Child("name"), metadata.PathSegment)...)
}

// NetworkPolicy checks selectors, ports, peers and types.
func NetworkPolicy(p *networkingv1.NetworkPolicy) field.ErrorList {
	errs := metav1validation.ValidateLabelSelector(&p.Spec.PodSelector,
		metav1validation.LabelSelectorValidationOptions{}, specPath.Child("podSelector"))
	for i := range p.Spec.Ingress {
		errs = append(errs, validatePolicyTraffic(p.Spec.Ingress[i].Ports, p.Spec.Ingress[i].From,
			specPath.Child("ingress").Index(i), "from")...)
	}
	for i := range p.Spec.Egress {
		errs = append(errs, validatePolicyTraffic(p.Spec.Egress[i].Ports, p.Spec.Egress[i].To,
			specPath.Child("egress").Index(i), "to")...)
	}
	path := specPath.Child("policyTypes")
	if len(p.Spec.PolicyTypes) > 2 {
		return append(errs, field.Invalid(path, &p.Spec.PolicyTypes, "may not specify more than two policyTypes"))
	}
	for i := range p.Spec.PolicyTypes {
		errs = append(errs, among(&p.Spec.PolicyTypes[i], path.Index(i), networkingv1.PolicyTypeIngress,
			networkingv1.PolicyTypeEgress)...)
	}
	return errs
}

func validatePolicyTraffic(ports []networkingv1.NetworkPolicyPort, peers []networkingv1.NetworkPolicyPeer,
	path *field.Path, side string) (errs field.ErrorList) {
	for i := range ports {
		errs = append(errs, validatePolicyPort(&ports[i], path.Child("ports").Index(i))...)
	}
	for i := range peers {
		errs = append(errs, validatePolicyPeer(&peers[i], path.Child(side).Index(i))...)
	}
	return errs
}

func validatePolicyPort(p *networkingv1.NetworkPolicyPort, path *field.Path) field.ErrorList {
	errs := among(p.Protocol, path.Child("protocol"), corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP)
	end := path.Child("endPort")
	switch {
	case p.Port == nil:
		if p.EndPort != nil {
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is not specified"))
		}
	case p.Port.Type == intstr.Int:
		for _, msg := range utilvalidation.IsValidPortNum(int(p.Port.IntVal)) {
			errs = append(errs, field.Invalid(path.Child("port"), p.Port.IntVal, msg))
		}
		if p.EndPort == nil {
			break
		}
		if *p.EndPort < p.Port.IntVal {
			errs = append(errs, field.Invalid(end, p.Port.IntVal, "must be greater than or equal to `port`"))
		}
		for _, msg := range utilvalidation.IsValidPortNum(int(*p.EndPort)) {
			errs = append(errs, field.Invalid(end, *p.EndPort, msg))
		}
	default:
		if p.EndPort != nil {
			errs = append(errs, field.Invalid(end, *p.EndPort, "may not be specified when `port` is non-numeric"))
		}
		errs = append(errs, named(p.Port.StrVal, path.Child("port"), plain(utilvalidation.IsValidPortName))...)
	}
	return errs
}

func validatePolicyPeer(p *networkingv1.NetworkPolicyPeer, path *field.Path) (errs field.ErrorList) {
	peers := 0
	opts := metav1validation.LabelSelectorValidationOptions{}
	if p.PodSelector != nil {
		peers++
		errs = metav1validation.ValidateLabelSelector(p.PodSelector, opts, path.Child("podSelector"))
	}
	if p.NamespaceSelector != nil {
		peers++
		errs = append(errs, metav1validation.ValidateLabelSelector(p.NamespaceSelector, opts,
			path.Child("namespaceSelector"))...)
	}
	if p.IPBlock != nil {
		peers++
		errs = append(errs, validateBlock(p.IPBlock, path.Child("ipBlock"))...)
	}
	switch {
	case peers == 0:
		errs = append(errs, field.Required(path, "must specify a peer"))
	case peers > 1 && p.IPBlock != nil:
		errs = append(errs, field.Forbidden(path, "may not specify both ipBlock and another peer"))
	}
	return errs
}

func validateBlock(b *networkingv1.IPBlock, path *field.Path) (errs field.ErrorList) {
	if b.CIDR == "" {
		return field.ErrorList{field.Required(path.Child("cidr"), "")}
	}
	errs = utilvalidation.IsValidCIDRForLegacyField(path.Child("cidr"), b.CIDR, true, nil)
	whole, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		return errs
	}
	for i, text := range b.Except {
		at := path.Child("except").Index(i)
		errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(at, text, true, nil)...)
		part, err := netip.ParsePrefix(text)
		if err == nil && (!whole.Contains(part.Addr()) || whole.Bits() >= part.Bits()) {
			errs = append(errs, field.Invalid(at, text, "must be a strict subset of `cidr`"))
		}
	}
	return errs
}
