package validation

import (
	"crypto/tls"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WarnService warns of fields that are ignored, old, or hold addresses in a form that not everybody reads.
func WarnService(s *corev1.Service) (all []string) {
	spec := &s.Spec
	bare := spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone
	external := spec.Type == corev1.ServiceTypeExternalName
	warn := func(is bool, text string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(text, args...))
		}
	}
	_, hints := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	warn(hints, "annotation %s is deprecated, please use %s instead", corev1.DeprecatedAnnotationTopologyAwareHints,
		corev1.AnnotationTopologyMode)
	if spec.ClusterIP != corev1.ClusterIPNone && spec.ClusterIP != "" {
		for i, ip := range spec.ClusterIPs {
			all = append(all, utilvalidation.GetWarningsForIP(specPath.Child("clusterIPs").Index(i), ip)...)
		}
	}
	warn(bare && spec.LoadBalancerIP != "", "spec.loadBalancerIP is ignored for headless services")
	warn(bare && len(spec.ExternalIPs) > 0, "spec.externalIPs is ignored for headless services")
	warn(bare && spec.SessionAffinity != corev1.ServiceAffinityNone,
		"spec.SessionAffinity is ignored for headless services")
	for i, ip := range spec.ExternalIPs {
		all = append(all, utilvalidation.GetWarningsForIP(specPath.Child("externalIPs").Index(i), ip)...)
	}
	warn(len(spec.ExternalIPs) > 0 && !bare && !external,
		"spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	if spec.LoadBalancerIP != "" {
		all = append(all, utilvalidation.GetWarningsForIP(specPath.Child("loadBalancerIP"), spec.LoadBalancerIP)...)
	}
	for i, block := range spec.LoadBalancerSourceRanges {
		all = append(all, utilvalidation.GetWarningsForCIDR(specPath.Child("loadBalancerSourceRanges").Index(i),
			block)...)
	}
	warn(external && len(spec.ExternalIPs) > 0, "spec.externalIPs is ignored when spec.type is %q",
		corev1.ServiceTypeExternalName)
	warn(!external && spec.ExternalName != "", "spec.externalName is ignored when spec.type is not %q",
		corev1.ServiceTypeExternalName)
	warn(spec.TrafficDistribution != nil && *spec.TrafficDistribution == corev1.ServiceTrafficDistributionPreferClose,
		"spec.trafficDistribution: %q is deprecated; use %q", corev1.ServiceTrafficDistributionPreferClose,
		corev1.ServiceTrafficDistributionPreferSameZone)
	return all
}

// WarnServiceStatus warns of addresses of a load balancer.
func WarnServiceStatus(s *corev1.Service) (all []string) {
	for i, in := range s.Status.LoadBalancer.Ingress {
		all = append(all, warnBalancer(i, in.IP)...)
	}
	return all
}

// WarnIngressStatus warns of addresses of a load balancer.
func WarnIngressStatus(o *networkingv1.Ingress) (all []string) {
	for i, in := range o.Status.LoadBalancer.Ingress {
		all = append(all, warnBalancer(i, in.IP)...)
	}
	return all
}

func warnBalancer(i int, ip string) []string {
	if ip == "" {
		return nil
	}
	return utilvalidation.GetWarningsForIP(field.NewPath("status", "loadBalancer", "ingress").Index(i), ip)
}

// WarnPodStatus warns of addresses of a Pod and its host.
func WarnPodStatus(p *corev1.Pod) (all []string) {
	for i, ip := range p.Status.PodIPs {
		all = append(all, utilvalidation.GetWarningsForIP(field.NewPath("status", "podIPs").Index(i).Child("ip"),
			ip.IP)...)
	}
	for i, ip := range p.Status.HostIPs {
		all = append(all, utilvalidation.GetWarningsForIP(field.NewPath("status", "hostIPs").Index(i).Child("ip"),
			ip.IP)...)
	}
	return all
}

// WarnSlice warns of addresses that another than the system's controllers gives.
func WarnSlice(s *discoveryv1.EndpointSlice) (all []string) {
	switch s.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return nil
	}
	for i := range s.Endpoints {
		for j, ip := range s.Endpoints[i].Addresses {
			all = append(all, utilvalidation.GetWarningsForIP(field.NewPath("endpoints").Index(i).Child("addresses").
				Index(j), ip)...)
		}
	}
	return all
}

// WarnNewSlice warns of names in the place of addresses, too.
func WarnNewSlice(s *discoveryv1.EndpointSlice) (all []string) {
	if s.AddressType == discoveryv1.AddressTypeFQDN {
		all = append(all, fmt.Sprintf("%s: FQDN endpoints are deprecated", specPath.Child("addressType")))
	}
	return append(all, WarnSlice(s)...)
}

// WarnNetworkPolicy warns of address blocks in a form that not everybody reads.
func WarnNetworkPolicy(p *networkingv1.NetworkPolicy) (all []string) {
	warn := func(peers []networkingv1.NetworkPolicyPeer, path *field.Path) {
		for i := range peers {
			block := peers[i].IPBlock
			if block == nil {
				continue
			}
			at := path.Index(i).Child("ipBlock")
			all = append(all, utilvalidation.GetWarningsForCIDR(at.Child("cidr"), block.CIDR)...)
			for j, except := range block.Except {
				all = append(all, utilvalidation.GetWarningsForCIDR(at.Child("except").Index(j), except)...)
			}
		}
	}
	for i := range p.Spec.Ingress {
		warn(p.Spec.Ingress[i].From, specPath.Child("ingress").Index(i).Child("from"))
	}
	for i := range p.Spec.Egress {
		warn(p.Spec.Egress[i].To, specPath.Child("egress").Index(i).Child("to"))
	}
	return all
}

// WarnSecret warns of a certificate and a key that do not belong together, or are none.
func WarnSecret(s *corev1.Secret) []string {
	if s.Type != corev1.SecretTypeTLS {
		return nil
	}
	if _, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey]); err != nil {
		return []string{err.Error()}
	}
	return nil
}
