package validation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ofPods are the resources that quotas of Pods have; the first counts them.
var ofPods = []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory}

// ofClaims are those that quotas of claims have.
var ofClaims = []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage}

// counted are the resources of quotas that are whole numbers.
var counted = []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceQuotas, corev1.ResourceServices,
	corev1.ResourceReplicationControllers, corev1.ResourceSecrets, corev1.ResourceConfigMaps,
	corev1.ResourcePersistentVolumeClaims, corev1.ResourceServicesNodePorts, corev1.ResourceServicesLoadBalancers}

// measured are the others.
var measured = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsStorage,
	corev1.ResourceRequestsEphemeralStorage, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
	corev1.ResourceLimitsEphemeralStorage}

func quotable(name corev1.ResourceName) bool {
	return oneOf(name, counted) || oneOf(name, measured) || strings.HasPrefix(string(name), "hugepages-") ||
		strings.HasPrefix(string(name), "requests.hugepages-")
}

// Quota checks what a quota limits, and of which objects.
func Quota(q *corev1.ResourceQuota) field.ErrorList {
	errs := validateHard(q.Spec.Hard, specPath.Child("hard"))
	path := specPath.Child("scopes")
	for _, scope := range q.Spec.Scopes {
		errs = append(errs, validateScope(scope, &q.Spec, path, path, q.Spec.Scopes, q.Spec.Scopes)...)
	}
	errs = append(errs, conflicting(q.Spec.Scopes, &q.Spec, path)...)
	if q.Spec.ScopeSelector == nil {
		return errs
	}
	path = specPath.Child("scopeSelector", "matchExpressions")
	var scopes []corev1.ResourceQuotaScope
	for i := range q.Spec.ScopeSelector.MatchExpressions {
		one := &q.Spec.ScopeSelector.MatchExpressions[i]
		scopes = append(scopes, one.ScopeName)
		errs = append(errs, validateScope(one.ScopeName, &q.Spec, path.Child("scopeName"), path, one.ScopeName,
			asShown(q.Spec.ScopeSelector))...)
		errs = append(errs, validateScopeOperator(one, path)...)
	}
	return append(errs, conflicting(scopes, &q.Spec, path)...)
}

// QuotaUpdate checks that the scopes stay the same, too.
func QuotaUpdate(q, old *corev1.ResourceQuota) field.ErrorList {
	errs := Quota(q)
	if !maps.Equal(scopeSet(q), scopeSet(old)) {
		errs = append(errs, field.Invalid(specPath.Child("scopes"), q.Spec.Scopes,
			apivalidation.FieldImmutableErrorMsg))
	}
	return errs
}

func scopeSet(q *corev1.ResourceQuota) map[corev1.ResourceQuotaScope]bool {
	set := map[corev1.ResourceQuotaScope]bool{}
	for _, scope := range q.Spec.Scopes {
		set[scope] = true
	}
	return set
}

// QuotaStatus checks what is limited and used.
func QuotaStatus(q, _ *corev1.ResourceQuota) field.ErrorList {
	return append(validateHard(q.Status.Hard, statusPath.Child("hard")),
		validateHard(q.Status.Used, statusPath.Child("used"))...)
}

func validateHard(list corev1.ResourceList, path *field.Path) (errs field.ErrorList) {
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := path.Key(string(name))
		own := qualified(string(name), at)
		if bare := !strings.Contains(string(name), "/"); bare && !quotable(name) {
			if len(own) == 0 && name != corev1.ResourceStorage {
				own = append(own, field.Invalid(at, name, "must be a standard resource type or fully qualified"))
			}
			own = append(own, field.Invalid(at, name, "must be a standard resource for quota"))
		}
		errs = append(append(errs, own...), resourceAmount(name, list[name], at)...)
	}
	return errs
}

// validateScope checks one scope: that there is such a scope, and that each
// resource is one of those objects'.
func validateScope(scope corev1.ResourceQuotaScope, s *corev1.ResourceQuotaSpec, path, whole *field.Path, shown,
	all any) (errs field.ErrorList) {
	fits := func(corev1.ResourceName) bool { return true }
	switch scope {
	case corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
		corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopePriorityClass,
		corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		fits = func(name corev1.ResourceName) bool { return oneOf(name, ofPods) }
	case corev1.ResourceQuotaScopeBestEffort:
		fits = func(name corev1.ResourceName) bool { return name == corev1.ResourcePods }
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
		fits = func(name corev1.ResourceName) bool { return oneOf(name, ofClaims) }
	default:
		errs = append(errs, field.Invalid(path, shown, "unsupported scope"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Hard)) {
		if quotable(name) && !fits(name) {
			errs = append(errs, field.Invalid(whole, all, "unsupported scope applied to resource"))
		}
	}
	return errs
}

func validateScopeOperator(r *corev1.ScopedResourceSelectorRequirement, path *field.Path) (errs field.ErrorList) {
	switch r.ScopeName {
	case corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort,
		corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating,
		corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		if r.Operator != corev1.ScopeSelectorOpExists {
			errs = append(errs, field.Invalid(path.Child("operator"), r.Operator,
				"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "+
					"ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "+
					"ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
		}
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(path.Child("values"),
				"must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Invalid(path.Child("values"), r.Values,
				"must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return errs
}

// conflicting finds scopes that no object is in both of.
func conflicting(scopes []corev1.ResourceQuotaScope, s *corev1.ResourceQuotaSpec,
	path *field.Path) (errs field.ErrorList) {
	for _, pair := range [...][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if oneOf(pair[0], scopes) && oneOf(pair[1], scopes) {
			errs = append(errs, field.Invalid(path, s.Scopes, "conflicting scopes"))
		}
	}
	return errs
}
