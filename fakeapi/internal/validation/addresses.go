package validation

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var ipFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}

// validateClusterIPs checks the addresses of a Service against each other and their families.
func validateClusterIPs(s, old *corev1.Service) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	all, path := s.Spec.ClusterIPs, specPath.Child("clusterIPs")
	switch first := s.Spec.ClusterIP; {
	case first != "" && len(all) == 0:
		errs = append(errs, field.Required(path, ""))
	case first != "" && all[0] != first:
		errs = append(errs, field.Invalid(path, all, "first value must match `clusterIP`"))
	case first == "" && len(all) > 0:
		errs = append(errs, field.Invalid(path, all, "must be empty when `clusterIP` is not specified"))
	}
	for i, family := range s.Spec.IPFamilies {
		at := specPath.Child("ipFamilies").Index(i)
		errs = append(errs, among(&family, at, ipFamilies...)...)
		if slices.Contains(s.Spec.IPFamilies[:i], family) {
			errs = append(errs, field.Duplicate(at, family))
		}
	}
	errs = append(errs, among(s.Spec.IPFamilyPolicy, specPath.Child("ipFamilyPolicy"),
		corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack,
		corev1.IPFamilyPolicySingleStack)...)
	bad := false
	for i, text := range all {
		var wrong field.ErrorList
		if i > 0 || text != corev1.ClusterIPNone {
			wrong = keptOrIP(text, old != nil && oneOf(text, old.Spec.ClusterIPs), path.Index(i))
		} else if len(all) > 1 {
			wrong = field.ErrorList{field.Invalid(path, all, "'None' must be the first and only value")}
		}
		bad = bad || len(wrong) > 0
		errs = append(errs, wrong...)
	}
	if len(all) > 2 {
		errs = append(errs, field.Invalid(path, all, "may only hold up to 2 values"))
	}
	if bad {
		return errs
	}
	return append(errs, validateFamilies(s, path)...)
}

func validateFamilies(s *corev1.Service, path *field.Path) (errs field.ErrorList) {
	all := s.Spec.ClusterIPs
	four := func(text string) bool {
		a, err := netip.ParseAddr(text)
		return err == nil && a.Is4()
	}
	kinds := map[bool]bool{}
	for _, text := range all {
		kinds[four(text)] = true
	}
	if len(all) > 1 && len(kinds) < 2 {
		errs = append(errs, field.Invalid(path, all, "may specify no more than one IP for each IP family"))
	}
	if headless(s) {
		return errs
	}
	for i, text := range all {
		if i == len(s.Spec.IPFamilies) {
			break
		}
		if want := s.Spec.IPFamilies[i]; want == corev1.IPv4Protocol && !four(text) ||
			want == corev1.IPv6Protocol && four(text) {
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", want, i)))
		}
	}
	return errs
}

// Addressable says why no address can be given to a Service: what it says of addresses is
// wrong, or the cluster, which knows IPv4 alone, has none.
func Addressable(s, old *corev1.Service) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	if errs := validateClusterIPs(s, old); len(errs) > 0 {
		return errs
	}
	path := specPath.Child("ipFamilyPolicy")
	policy := s.Spec.IPFamilyPolicy
	if policy != nil && *policy == corev1.IPFamilyPolicySingleStack {
		const must = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
		if len(s.Spec.ClusterIPs) == 2 {
			errs = append(errs, field.Invalid(path, policy, must+"cluster IPs are specified"))
		}
		if len(s.Spec.IPFamilies) == 2 {
			errs = append(errs, field.Invalid(path, policy, must+"IP families are specified"))
		}
	}
	if len(errs) > 0 || headless(s) && len(s.Spec.Selector) == 0 {
		return errs
	}
	if policy != nil && *policy == corev1.IPFamilyPolicyRequireDualStack {
		errs = append(errs, field.Invalid(path, policy, "this cluster is not configured for dual-stack services"))
	}
	for i, family := range s.Spec.IPFamilies {
		if family == corev1.IPv6Protocol {
			errs = append(errs, field.Invalid(specPath.Child("ipFamilies").Index(i), family,
				"not configured on this cluster"))
		}
	}
	return errs
}

// keptAddresses: an address that was given stays; a second one may come and go.
func keptAddresses(s, old *corev1.Service) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName ||
		headless(s) && headless(old) {
		return nil
	}
	now, was := s.Spec.ClusterIPs, old.Spec.ClusterIPs
	for i := range was {
		if i < len(now) && (i == 0 || len(now) == len(was)) && now[i] != was[i] {
			errs = append(errs, field.Invalid(specPath.Child("clusterIPs").Index(i), now, "may not change once set"))
		}
	}
	if len(now) >= len(was) {
		return errs
	}
	if len(now) == 0 {
		errs = append(errs, field.Invalid(specPath.Child("clusterIPs").Index(0), now,
			"primary clusterIP can not be unset"))
	}
	return append(errs, released(s, len(now) == 1, "clusterIP")...)
}

func keptFamilies(s, old *corev1.Service) (errs field.ErrorList) {
	if s.Spec.Type == corev1.ServiceTypeExternalName || old.Spec.Type == corev1.ServiceTypeExternalName ||
		headless(s) || headless(old) {
		return nil
	}
	now, was, path := s.Spec.IPFamilies, old.Spec.IPFamilies, specPath.Child("ipFamilies").Index(0)
	for i := range was {
		if len(now) == len(was) && now[i] != was[i] {
			errs = append(errs, field.Invalid(path, now, "may not change once set"))
		}
	}
	if len(now) != len(was) && len(now) > 0 && len(was) > 0 && now[0] != was[0] {
		errs = append(errs, field.Invalid(path, s.Spec.ClusterIPs, "may not change once set"))
	}
	return append(errs, released(s, len(now) == 1 && len(was) > 1, "ipFamily")...)
}

func released(s *corev1.Service, one bool, what string) field.ErrorList {
	if p := s.Spec.IPFamilyPolicy; !one || p != nil && *p == corev1.IPFamilyPolicySingleStack {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("ipFamilyPolicy"), s.Spec.IPFamilyPolicy,
		"must be set to 'SingleStack' when releasing the secondary "+what)}
}
