package validation

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateTemplate checks a Pod template on its own.
func validateTemplate(t *corev1.PodTemplateSpec, path *field.Path) (errs field.ErrorList) {
	errs = metav1validation.ValidateLabels(t.Labels, path.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(t.Annotations, path.Child("annotations"))...)
	errs = append(errs, validatePodSpec(&t.Spec, path.Child("spec"))...)
	if len(t.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(path.Child("spec", "ephemeralContainers"),
			"ephemeral containers not allowed in pod template"))
	}
	return errs
}

// alwaysRestarts checks a template whose Pods are to run for ever.
func alwaysRestarts(t *corev1.PodTemplateSpec, path *field.Path, kind string) (errs field.ErrorList) {
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), t.Spec.RestartPolicy,
			[]string{string(corev1.RestartPolicyAlways)}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"),
			"activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

// validateSelector checks that a label selector is there, well-formed and not
// empty, and that the template's labels match it. text says what else to
// complain of in a selector that does not parse.
func validateSelector(sel *metav1.LabelSelector, t *corev1.PodTemplateSpec, empty, text string) (errs field.ErrorList,
	ok bool) {
	path := specPath.Child("selector")
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
		errs = append(errs, field.Invalid(specPath.Child("template", "metadata", "labels"), t.Labels,
			"`selector` does not match template `labels`"))
	}
	return errs, true
}
