package validation

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Service checks a new Service.
func Service(s *corev1.Service) field.ErrorList { return validateServiceSpec(s, nil) }

// ServiceUpdate checks a change: addresses and their families are for ever.
func ServiceUpdate(s, old *corev1.Service) field.ErrorList {
	errs := append(keptAddresses(s, old), keptFamilies(s, old)...)
	class, was := s.Spec.LoadBalancerClass, old.Spec.LoadBalancerClass
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	if balanced && old.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		((class == nil) != (was == nil) || class != nil && *class != *was) {
		errs = append(errs, field.Invalid(specPath.Child("loadBalancerClass"), class, "may not change once set"))
	}
	errs = append(errs, validateClass(s)...)
	if ProbedByPort(s) && ProbedByPort(old) && s.Spec.HealthCheckNodePort != old.Spec.HealthCheckNodePort {
		errs = append(errs, field.Forbidden(specPath.Child("healthCheckNodePort"), "field is immutable"))
	}
	return append(errs, validateServiceSpec(s, old)...)
}

// Reachable says whether a Service is reached from without the cluster.
func Reachable(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer || s.Spec.Type == corev1.ServiceTypeNodePort ||
		s.Spec.Type == corev1.ServiceTypeClusterIP && len(s.Spec.ExternalIPs) > 0
}

// ProbedByPort says whether a load balancer asks each node whether it has endpoints.
func ProbedByPort(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer &&
		s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

func headless(s *corev1.Service) bool {
	return len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}

func validateServiceSpec(s, old *corev1.Service) (errs field.ErrorList) {
	notes := metadata.Path.Child("annotations")
	hints, hinted := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	if mode, ok := s.Annotations[corev1.AnnotationTopologyMode]; ok && hinted && mode != hints {
		errs = append(errs, field.Invalid(notes.Key(corev1.AnnotationTopologyMode), mode,
			fmt.Sprintf("must match annotations[%s] when both are specified",
				corev1.DeprecatedAnnotationTopologyAwareHints)))
	}
	errs = append(errs, validateType(s)...)
	errs = append(errs, validateServicePorts(s)...)
	if s.Spec.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabels(s.Spec.Selector, specPath.Child("selector"))...)
	}
	errs = append(errs, validateAffinityOfClients(&s.Spec)...)
	errs = append(errs, validateClusterIPs(s, old)...)
	for i, text := range s.Spec.ExternalIPs {
		at := specPath.Child("externalIPs").Index(i)
		if wrong := keptOrIP(text, old != nil && oneOf(text, old.Spec.ExternalIPs), at); len(wrong) > 0 {
			errs = append(errs, wrong...)
		} else {
			errs = append(errs, endpointIP(text, at)...)
		}
	}
	errs = append(errs, amongSome(s.Spec.Type, specPath.Child("type"), corev1.ServiceTypeClusterIP,
		corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort)...)
	errs = append(errs, uniquePorts(&s.Spec)...)
	errs = append(errs, validateSources(s, old)...)
	balanced, nodes := s.Spec.Type == corev1.ServiceTypeLoadBalancer, s.Spec.AllocateLoadBalancerNodePorts
	if nodes != nil && !balanced {
		errs = append(errs, field.Forbidden(specPath.Child("allocateLoadBalancerNodePorts"), onlyBalanced))
	}
	if nodes == nil && balanced {
		errs = append(errs, field.Required(field.NewPath("allocateLoadBalancerNodePorts"), ""))
	}
	errs = append(errs, validateClass(s)...)
	return append(errs, validateTraffic(s)...)
}

const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"

// keptOrIP checks an address, unless it was stored before.
func keptOrIP(text string, kept bool, path *field.Path) field.ErrorList {
	if kept {
		return nil
	}
	return anyIP(text, path)
}

func validateType(s *corev1.Service) (errs field.ErrorList) {
	external := s.Spec.Type == corev1.ServiceTypeExternalName
	if len(s.Spec.Ports) == 0 && !headless(s) && !external {
		errs = append(errs, field.Required(specPath.Child("ports"), ""))
	}
	switch t := s.Spec.Type; t {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if headless(s) {
			errs = append(errs, field.Invalid(specPath.Child("clusterIPs").Index(0), s.Spec.ClusterIPs[0],
				fmt.Sprintf("may not be set to 'None' for %s services", t)))
		}
	case corev1.ServiceTypeExternalName:
		for _, one := range [...]setting{{[]string{"clusterIPs"}, len(s.Spec.ClusterIPs) > 0},
			{[]string{"ipFamilies"}, len(s.Spec.IPFamilies) > 0},
			{[]string{"ipFamilyPolicy"}, s.Spec.IPFamilyPolicy != nil}} {
			if one.set {
				errs = append(errs, field.Forbidden(specPath.Child(one.at[0]),
					"may not be set for ExternalName services"))
			}
		}
		errs = append(errs, mustName(strings.TrimSuffix(s.Spec.ExternalName, "."), specPath.Child("externalName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}

func validateServicePorts(s *corev1.Service) (errs field.ErrorList) {
	names := map[string]bool{}
	for i := range s.Spec.Ports {
		p, at := &s.Spec.Ports[i], specPath.Child("ports").Index(i)
		if p.Name != "" {
			errs = append(errs, label(p.Name, at.Child("name"))...)
			if names[p.Name] {
				errs = append(errs, field.Duplicate(at.Child("name"), p.Name))
			}
			names[p.Name] = true
		} else if len(s.Spec.Ports) > 1 {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		errs = append(errs, portNumber(p.Port, at, "port")...)
		errs = append(errs, amongSome(p.Protocol, at.Child("protocol"), corev1.ProtocolSCTP, corev1.ProtocolTCP,
			corev1.ProtocolUDP)...)
		errs = append(errs, numberOrName(p.TargetPort, at.Child("targetPort"))...)
		if p.AppProtocol != nil {
			errs = append(errs, qualified(*p.AppProtocol, at.Child("appProtocol"))...)
		}
	}
	return errs
}

// uniquePorts: a port of a protocol, here or on the nodes, is used once.
func uniquePorts(s *corev1.ServiceSpec) (errs field.ErrorList) {
	path := specPath.Child("ports")
	type port struct {
		protocol corev1.Protocol
		n        int32
	}
	nodes, own := map[port]bool{}, map[port]bool{}
	for i := range s.Ports {
		if s.Type == corev1.ServiceTypeClusterIP && s.Ports[i].NodePort != 0 {
			errs = append(errs, field.Forbidden(path.Index(i).Child("nodePort"),
				"may not be used when `type` is 'ClusterIP'"))
		}
	}
	for i, p := range s.Ports {
		if key := (port{p.Protocol, p.NodePort}); p.NodePort != 0 {
			if nodes[key] {
				errs = append(errs, field.Duplicate(path.Index(i).Child("nodePort"), p.NodePort))
			}
			nodes[key] = true
		}
	}
	for i, p := range s.Ports {
		if own[port{p.Protocol, p.Port}] {
			errs = append(errs, field.Duplicate(path.Index(i),
				asShown(&corev1.ServicePort{Protocol: p.Protocol, Port: p.Port})))
		}
		own[port{p.Protocol, p.Port}] = true
	}
	return errs
}

func validateAffinityOfClients(s *corev1.ServiceSpec) (errs field.ErrorList) {
	path := specPath.Child("sessionAffinity")
	errs = amongSome(s.SessionAffinity, path, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	path = specPath.Child("sessionAffinityConfig")
	switch c := s.SessionAffinityConfig; {
	case s.SessionAffinity == corev1.ServiceAffinityNone && c != nil:
		errs = append(errs, field.Forbidden(path, "must not be set when session affinity is None"))
	case s.SessionAffinity == corev1.ServiceAffinityClientIP && c != nil && c.ClientIP != nil:
		if t := c.ClientIP.TimeoutSeconds; t != nil && (*t <= 0 || *t > 86400) {
			errs = append(errs, field.Invalid(path.Child("clientIP", "timeoutSeconds"), t,
				"must be greater than 0 and less than 86400"))
		}
	}
	return errs
}

// validateSources checks from where a load balancer takes clients.
func validateSources(s, old *corev1.Service) (errs field.ErrorList) {
	balanced := s.Spec.Type == corev1.ServiceTypeLoadBalancer
	if ranges := s.Spec.LoadBalancerSourceRanges; len(ranges) > 0 {
		path := specPath.Child("LoadBalancerSourceRanges")
		if !balanced {
			errs = append(errs, field.Forbidden(path, onlyBalanced))
		}
		for i, text := range ranges {
			text = strings.TrimSpace(text)
			same := func(was string) bool { return strings.TrimSpace(was) == text }
			if old == nil || !slices.ContainsFunc(old.Spec.LoadBalancerSourceRanges, same) {
				errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(path.Index(i), text, true, nil)...)
			}
		}
		return errs
	}
	const key = corev1.AnnotationLoadBalancerSourceRangesKey
	text, ok := s.Annotations[key]
	if !ok {
		return nil
	}
	path := metadata.Path.Child("annotations").Key(key)
	if !balanced {
		errs = append(errs, field.Forbidden(path, onlyBalanced))
	}
	if text = strings.TrimSpace(text); text != "" && (old == nil || old.Annotations[key] != s.Annotations[key]) {
		for one := range strings.SplitSeq(text, ",") {
			errs = append(errs, utilvalidation.IsValidCIDRForLegacyField(path, strings.TrimSpace(one), true, nil)...)
		}
	}
	return errs
}

func validateClass(s *corev1.Service) field.ErrorList {
	path := specPath.Child("loadBalancerClass")
	switch {
	case s.Spec.LoadBalancerClass == nil:
		return nil
	case s.Spec.Type != corev1.ServiceTypeLoadBalancer:
		return field.ErrorList{field.Forbidden(path, onlyBalanced)}
	}
	return qualified(*s.Spec.LoadBalancerClass, path)
}

func validateTraffic(s *corev1.Service) (errs field.ErrorList) {
	path := specPath.Child("externalTrafficPolicy")
	if Reachable(s) {
		errs = append(errs, amongSome(s.Spec.ExternalTrafficPolicy, path, corev1.ServiceExternalTrafficPolicyCluster,
			corev1.ServiceExternalTrafficPolicyLocal)...)
	} else if s.Spec.ExternalTrafficPolicy != "" {
		errs = append(errs, field.Invalid(path, s.Spec.ExternalTrafficPolicy,
			"may only be set for externally-accessible services"))
	}
	path = specPath.Child("healthCheckNodePort")
	switch n := s.Spec.HealthCheckNodePort; {
	case !ProbedByPort(s) && n != 0:
		errs = append(errs, field.Invalid(path, n,
			"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))
	case ProbedByPort(s) && n == 0:
		errs = append(errs, field.Required(path, ""))
	case n != 0:
		errs = append(errs, portNumber(n, specPath, "healthCheckNodePort")...)
	}
	path = specPath.Child("internalTrafficPolicy")
	if within := s.Spec.InternalTrafficPolicy; within != nil {
		errs = append(errs, among(within, path, corev1.ServiceInternalTrafficPolicyCluster,
			corev1.ServiceInternalTrafficPolicyLocal)...)
	} else if oneOf(s.Spec.Type, []corev1.ServiceType{corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer,
		corev1.ServiceTypeClusterIP}) {
		errs = append(errs, field.Required(path, ""))
	}
	return append(errs, among(s.Spec.TrafficDistribution, specPath.Child("trafficDistribution"),
		corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone,
		corev1.ServiceTrafficDistributionPreferSameNode)...)
}

// ServiceStatus checks where a load balancer is.
func ServiceStatus(s, old *corev1.Service) (errs field.ErrorList) {
	path := statusPath.Child("loadBalancer", "ingress")
	list := s.Status.LoadBalancer.Ingress
	if len(list) > 0 && s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return field.ErrorList{field.Forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")}
	}
	for i := range list {
		one, at := &list[i], path.Index(i)
		if one.IP != "" {
			kept := slices.ContainsFunc(old.Status.LoadBalancer.Ingress,
				func(was corev1.LoadBalancerIngress) bool { return was.IP == one.IP })
			errs = append(errs, keptOrIP(one.IP, kept, at.Child("ip"))...)
		}
		switch mode := at.Child("ipMode"); {
		case one.IPMode == nil && one.IP != "":
			errs = append(errs, field.Required(mode, "must be specified when `ip` is set"))
		case one.IPMode != nil && one.IP == "":
			errs = append(errs, field.Forbidden(mode, "may not be specified when `ip` is not set"))
		default:
			errs = append(errs, among(one.IPMode, mode, corev1.LoadBalancerIPModeProxy,
				corev1.LoadBalancerIPModeVIP)...)
		}
		if one.Hostname != "" {
			errs = append(errs, named(one.Hostname, at.Child("hostname"), apivalidation.NameIsDNSSubdomain)...)
			if _, err := netip.ParseAddr(one.Hostname); err == nil {
				errs = append(errs, field.Invalid(at.Child("hostname"), one.Hostname,
					"must be a DNS name, not an IP address"))
			}
		}
	}
	return errs
}
