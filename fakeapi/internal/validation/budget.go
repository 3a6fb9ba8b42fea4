package validation

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// shownBudget is a budget's spec as messages of the real server show it.
type shownBudget struct {
	MinAvailable               *intstr.IntOrString
	Selector                   *metav1.LabelSelector
	MaxUnavailable             *intstr.IntOrString
	UnhealthyPodEvictionPolicy *policyv1.UnhealthyPodEvictionPolicyType
}

// DisruptionBudget checks the spec of a PodDisruptionBudget, new or changed.
func DisruptionBudget(b *policyv1.PodDisruptionBudget) (errs field.ErrorList) {
	s := &b.Spec
	if s.MinAvailable != nil && s.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(specPath,
			shownBudget{s.MinAvailable, s.Selector, s.MaxUnavailable, s.UnhealthyPodEvictionPolicy},
			"minAvailable and maxUnavailable cannot be both set"))
	}
	for _, bound := range [...]struct {
		name  string
		value *intstr.IntOrString
	}{{"minAvailable", s.MinAvailable}, {"maxUnavailable", s.MaxUnavailable}} {
		if bound.value != nil {
			errs = append(errs, countOrPercent(bound.value, specPath.Child(bound.name))...)
			errs = append(errs, atMostAll(bound.value, specPath.Child(bound.name))...)
		}
	}
	errs = append(errs, metav1validation.ValidateLabelSelector(s.Selector,
		metav1validation.LabelSelectorValidationOptions{}, specPath.Child("selector"))...)
	policies := []string{string(policyv1.AlwaysAllow), string(policyv1.IfHealthyBudget)}
	if p := s.UnhealthyPodEvictionPolicy; p != nil && !slices.Contains(policies, string(*p)) {
		errs = append(errs, field.NotSupported(specPath.Child("unhealthyPodEvictionPolicy"), *p, policies))
	}
	return errs
}

// DisruptionBudgetStatus checks a write to its status.
func DisruptionBudgetStatus(b *policyv1.PodDisruptionBudget) field.ErrorList {
	s := &b.Status
	errs := metav1validation.ValidateConditions(s.Conditions, statusPath.Child("conditions"))
	errs = append(errs, nonNegative(int64(s.DisruptionsAllowed), statusPath, "disruptionsAllowed")...)
	errs = append(errs, nonNegative(int64(s.CurrentHealthy), statusPath, "currentHealthy")...)
	errs = append(errs, nonNegative(int64(s.DesiredHealthy), statusPath, "desiredHealthy")...)
	return append(errs, nonNegative(int64(s.ExpectedPods), statusPath, "expectedPods")...)
}
