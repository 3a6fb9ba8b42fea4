package validation

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// validateSelector checks that a label selector is there, well-formed and not
// empty, and that the template's labels match it. text says what else to
// complain of in a selector that does not parse.
func validateSelector(sel *metav1.LabelSelector, t *corev1.PodTemplateSpec, empty, text string) (errs field.ErrorList, ok bool) {
	path := SpecPath.Child("selector")
	if sel == nil {
		errs = append(errs, field.Required(path, ""))
	} else {
		errs = metav1validation.ValidateLabelSelector(sel, metav1validation.LabelSelectorValidationOptions{}, path)
		if len(sel.MatchLabels)+len(sel.MatchExpressions) == 0 {
			errs = append(errs, field.Invalid(path, sel, empty))
		}
	}
	s, err := metav1.LabelSelectorAsSelector(sel)
	if err != nil {
		return append(errs, field.Invalid(path, sel, text)), false
	}
	if !s.Empty() && !s.Matches(labels.Set(t.Labels)) {
		errs = append(errs, field.Invalid(SpecPath.Child("template", "metadata", "labels"), t.Labels, "`selector` does not match template `labels`"))
	}
	return errs, true
}

func ReplicaSet(rs *appsv1.ReplicaSet) field.ErrorList {
	errs := nonNegative(int64(*rs.Spec.Replicas), SpecPath, "replicas")
	errs = append(errs, nonNegative(int64(rs.Spec.MinReadySeconds), SpecPath, "minReadySeconds")...)
	t, path := &rs.Spec.Template, SpecPath.Child("template")
	more, ok := validateSelector(rs.Spec.Selector, t, "empty selector is invalid for deployment", "invalid label selector")
	errs = append(errs, more...)
	if !ok {
		return errs
	}
	errs = append(errs, validateTemplate(t, path)...)
	return append(errs, alwaysRestarts(t, path, "ReplicaSet")...)
}

// ReplicaSetUpdate does not look again at a selector and a template that
// were found good when they were stored.
func ReplicaSetUpdate(rs, old *appsv1.ReplicaSet) field.ErrorList {
	if rs.Spec.Selector != nil && old.Spec.Selector != nil && same.Value(rs.Spec.Selector, old.Spec.Selector) && same.Value(&rs.Spec.Template, &old.Spec.Template) {
		errs := nonNegative(int64(*rs.Spec.Replicas), SpecPath, "replicas")
		return append(errs, nonNegative(int64(rs.Spec.MinReadySeconds), SpecPath, "minReadySeconds")...)
	}
	return append(ReplicaSet(rs), apivalidation.ValidateImmutableField(rs.Spec.Selector, old.Spec.Selector, SpecPath.Child("selector"))...)
}

func ReplicaSetStatus(rs, _ *appsv1.ReplicaSet) field.ErrorList {
	s := &rs.Status
	return validateReplicaCounts(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration, s.TerminatingReplicas)
}
