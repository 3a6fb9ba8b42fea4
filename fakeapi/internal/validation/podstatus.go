package validation

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodStatus checks a write to the status.
func PodStatus(p, old *corev1.Pod) (errs field.ErrorList) {
	const natural = "must be a non-negative integer"
	s := &p.Status
	for i := range s.Conditions {
		c, at := &s.Conditions[i], func() *field.Path { return statusPath.Child("conditions").Index(i) }
		if c.ObservedGeneration < 0 {
			errs = append(errs, field.Invalid(at().Child("observedGeneration"), c.ObservedGeneration, natural))
		}
		switch c.Type {
		case corev1.PodScheduled, corev1.PodReady, corev1.PodInitialized:
		default:
			errs = append(errs, qualified(string(c.Type), at().Child("Type"))...)
		}
	}
	if p.Spec.NodeName != old.Spec.NodeName {
		errs = append(errs, field.Forbidden(statusPath.Child("nodeName"), "may not be changed directly"))
	}
	if name := s.NominatedNodeName; name != "" && name != old.Status.NominatedNodeName {
		at := statusPath.Child("nominatedNodeName")
		errs = append(errs, named(name, at, apivalidation.NameIsDNSSubdomain)...)
		if old.Spec.NodeName != "" {
			errs = append(errs, field.Forbidden(at, "may not be set on pods that are already bound to a node"))
		}
	}
	if s.ObservedGeneration < 0 {
		errs = append(errs, field.Invalid(statusPath.Child("observedGeneration"), s.ObservedGeneration, natural))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(s.QOSClass, old.Status.QOSClass,
		statusPath.Child("qosClass"))...)
	errs = append(errs, keptTerminated(p, old)...)
	errs = append(errs, validateClaimStatuses(p)...)
	errs = append(errs, validateExtendedClaim(p)...)
	if len(s.PodIPs) > 0 {
		errs = append(errs, validateAddresses(addressesOf(s.PodIPs), addressesOf(old.Status.PodIPs),
			shownList(s.PodIPs), statusPath.Child("podIPs"))...)
	}
	if len(s.HostIPs) > 0 {
		path := statusPath.Child("hostIPs")
		if s.HostIP != s.HostIPs[0].IP {
			errs = append(errs, field.Invalid(path.Index(0).Child("ip"), s.HostIPs[0].IP, "must be equal to `hostIP`"))
		}
		errs = append(errs, validateAddresses(addressesOf(s.HostIPs), addressesOf(old.Status.HostIPs),
			shownList(s.HostIPs), path)...)
	}
	errs = append(errs, validateUsers(s.ContainerStatuses, "containerStatuses", p.Spec.OS)...)
	errs = append(errs, validateUsers(s.InitContainerStatuses, "initContainerStatuses", p.Spec.OS)...)
	errs = append(errs, validateUsers(s.EphemeralContainerStatuses, "ephemeralContainerStatuses", p.Spec.OS)...)
	errs = append(errs, validateAllocated(s.ContainerStatuses, "containerStatuses", p.Spec.Containers)...)
	errs = append(errs, validateAllocated(s.InitContainerStatuses, "initContainerStatuses", p.Spec.InitContainers)...)
	for i := range s.EphemeralContainerStatuses {
		if len(s.EphemeralContainerStatuses[i].AllocatedResourcesStatus) > 0 {
			errs = append(errs, field.Forbidden(statusPath.Child("ephemeralContainerStatuses").Index(i).
				Child("allocatedResourcesStatus"), "must not be specified in container status"))
		}
	}
	return errs
}

func validateClaimStatuses(p *corev1.Pod) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, c := range p.Status.ResourceClaimStatuses {
		at := statusPath.Child("resourceClaimStatuses").Index(i)
		known := false
		for j := range p.Spec.ResourceClaims {
			known = known || p.Spec.ResourceClaims[j].Name == c.Name
		}
		if !known {
			errs = append(errs, field.Invalid(at.Child("name"), c.Name,
				"must match the name of an entry in `spec.resourceClaims`"))
		}
		if seen[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		seen[c.Name] = true
		if c.ResourceClaimName != nil {
			errs = append(errs, named(*c.ResourceClaimName, at.Child("resourceClaimName"),
				apivalidation.NameIsDNSSubdomain)...)
		}
	}
	return errs
}

func addressesOf[T corev1.PodIP | corev1.HostIP](list []T) (all []string) {
	for i := range list {
		all = append(all, corev1.PodIP(list[i]).IP)
	}
	return all
}

// validateAddresses: there is one of each family at most. Those that were there may stay.
func validateAddresses(now, was []string, shown any, path *field.Path) (errs field.ErrorList) {
	for i, text := range now {
		if !oneOf(text, was) {
			errs = append(errs, anyIP(text, path.Index(i))...)
		}
	}
	unread := func(i int, text string) error {
		return fmt.Errorf("failed to check for dual stack with error:invalid IP[%d]: %s", i, text)
	}
	return append(errs, oneOfEach(now, netip.ParseAddr, unread, shown,
		"may specify no more than one IP for each IP family", path)...)
}
