package validation

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// podScope is what the parts of a Pod's spec are checked against.
type podScope struct {
	spec    *corev1.PodSpec
	volumes map[string]*corev1.VolumeSource // those in which nothing is wrong
	pod     string                          // name of the Pod; "" in a template
	isPod   bool
}

// validatePodSpec checks a Pod's spec in the order of ValidatePodSpec, which is that of
// the messages. It makes no path for what is not there.
func validatePodSpec(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	return (&podScope{spec: s}).validate(path)
}

func (p *podScope) validate(path *field.Path) (errs field.ErrorList) {
	s := p.spec
	if len(s.Volumes) > 0 {
		errs = append(errs, p.validateVolumes(path.Child("volumes"))...)
	}
	if len(s.ResourceClaims) > 0 {
		errs = append(errs, validatePodClaims(s.ResourceClaims, path.Child("resourceClaims"))...)
	}
	errs = append(errs, p.validateContainers(path.Child("containers"))...)
	if len(s.InitContainers) > 0 {
		errs = append(errs, p.validateInitContainers(path.Child("initContainers"))...)
	}
	if len(s.EphemeralContainers) > 0 {
		errs = append(errs, p.validateEphemeral(path.Child("ephemeralContainers"))...)
	}
	if s.Resources != nil {
		errs = append(errs, p.validatePodResources(path.Child("resources"))...)
	}
	if s.HostNetwork {
		errs = append(errs, p.validateHostPorts(path.Child("containers"))...)
	}
	errs = append(errs, validatePolicies(s, path)...)
	if len(s.NodeSelector) > 0 {
		errs = append(errs, metav1validation.ValidateLabels(s.NodeSelector, path.Child("nodeSelector"))...)
	}
	if s.SecurityContext != nil && s.SecurityContext != plainSecurity {
		errs = append(errs, validatePodSecurity(s, path.Child("securityContext"))...)
	}
	errs = append(errs, validatePlacement(s, path)...)
	errs = append(errs, p.validateHostProcess(path)...)
	errs = append(errs, p.validateHostUsers(path)...)
	errs = append(errs, validateNames(s, path)...)
	if s.OS != nil {
		errs = append(errs, p.validateOS(path)...)
	}
	return append(errs, p.validateFileKeys(path)...)
}

// plainSecurity is the security context of who has none: an empty one, which need not be looked at.
var plainSecurity = &corev1.PodSecurityContext{}

// NoSecurity is what a Pod without a security context has.
func NoSecurity() *corev1.PodSecurityContext { return plainSecurity }

func (p *podScope) validateHostPorts(path *field.Path) (errs field.ErrorList) {
	for i := range p.spec.Containers {
		for j, port := range p.spec.Containers[i].Ports {
			if (p.isPod || port.HostPort != 0) && port.HostPort != port.ContainerPort {
				at := path.Index(i).Child("ports").Index(j).Child("hostPort")
				errs = append(errs, field.Invalid(at, port.HostPort,
					"must match `containerPort` when `hostNetwork` is true"))
			}
		}
	}
	return errs
}

func validatePolicies(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	switch s.RestartPolicy {
	case corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	default:
		errs = append(errs, field.NotSupported(path.Child("restartPolicy"), s.RestartPolicy,
			[]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure,
				corev1.RestartPolicyNever}))
	}
	switch s.DNSPolicy {
	case corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone:
	default:
		errs = append(errs, field.NotSupported(path.Child("dnsPolicy"), &s.DNSPolicy,
			[]corev1.DNSPolicy{corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault,
				corev1.DNSNone}))
	}
	return errs
}

// validatePlacement checks where a Pod may run, how it is named there, and what it waits for.
func validatePlacement(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if s.Affinity != nil {
		errs = append(errs, validateAffinity(s.Affinity, path.Child("affinity"))...)
	}
	if s.DNSConfig != nil || s.DNSPolicy == corev1.DNSNone {
		errs = append(errs, validateDNS(s, path.Child("dnsConfig"))...)
	}
	for i := range s.ReadinessGates {
		errs = append(errs, qualified(string(s.ReadinessGates[i].ConditionType),
			path.Child("readinessGates").Index(i).Child("conditionType"))...)
	}
	for i, gate := range s.SchedulingGates {
		at := path.Child("schedulingGates").Index(i)
		errs = append(errs, qualified(gate.Name, at)...)
		if slices.Contains(s.SchedulingGates[:i], gate) {
			errs = append(errs, field.Duplicate(at, gate.Name))
		}
	}
	if len(s.TopologySpreadConstraints) > 0 {
		errs = append(errs, validateSpread(s.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))...)
	}
	return errs
}

// validateNames checks the names in a spec, and what else is one word or number.
func validateNames(s *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if s.HostnameOverride != nil {
		errs = append(errs, validateHostnameOverride(s, path.Child("hostnameOverride"))...)
	}
	if s.ServiceAccountName != "" {
		errs = append(errs, named(s.ServiceAccountName, path.Child("serviceAccountName"),
			apivalidation.ValidateServiceAccountName)...)
	}
	if s.NodeName != "" {
		errs = append(errs, named(s.NodeName, path.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	}
	if d := s.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *d,
			utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	if s.Hostname != "" {
		errs = append(errs, label(s.Hostname, path.Child("hostname"))...)
	}
	if s.Subdomain != "" {
		errs = append(errs, label(s.Subdomain, path.Child("subdomain"))...)
	}
	if len(s.Tolerations) > 0 {
		errs = append(errs, validateTolerations(s.Tolerations, path)...)
	}
	for i := range s.HostAliases {
		at := path.Child("hostAliases").Index(i)
		errs = append(errs, anyIP(s.HostAliases[i].IP, at.Child("ip"))...)
		for j, name := range s.HostAliases[i].Hostnames {
			errs = append(errs, named(name, at.Child("hostnames").Index(j), apivalidation.NameIsDNSSubdomain)...)
		}
	}
	if s.PriorityClassName != "" {
		errs = append(errs, named(s.PriorityClassName, path.Child("priorityClassName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	if s.RuntimeClassName != nil {
		errs = append(errs, named(*s.RuntimeClassName, path.Child("runtimeClassName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	if s.PreemptionPolicy != nil && *s.PreemptionPolicy != corev1.PreemptLowerPriority {
		errs = append(errs, amongSome(*s.PreemptionPolicy, path.Child("preemptionPolicy"),
			corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	if s.Overhead != nil {
		errs = append(errs, validateRequirements(&corev1.ResourceRequirements{Limits: s.Overhead},
			containerResource, nil, path.Child("overhead"))...)
	}
	return errs
}
