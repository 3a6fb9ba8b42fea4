package validation

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ReplicationController checks the spec of a ReplicationController.
func ReplicationController(rc *corev1.ReplicationController) field.ErrorList {
	s := &rc.Spec
	errs := nonNegative(int64(s.MinReadySeconds), specPath, "minReadySeconds")
	if len(s.Selector) == 0 {
		errs = append(errs, field.Required(specPath.Child("selector"), ""))
	}
	errs = append(errs, nonNegative(int64(*s.Replicas), specPath, "replicas")...)
	path := specPath.Child("template")
	if s.Template == nil {
		return append(errs, field.Required(path, ""))
	}
	if len(s.Selector) > 0 && !labels.SelectorFromSet(s.Selector).Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels,
			"`selector` does not match template `labels`"))
	}
	errs = append(errs, validateTemplate(s.Template, path)...)
	return append(errs, alwaysRestarts(s.Template, path, "ReplicationController")...)
}

// ReplicationControllerUpdate checks a change.
func ReplicationControllerUpdate(rc, _ *corev1.ReplicationController) field.ErrorList {
	return ReplicationController(rc)
}

// ReplicationControllerStatus checks a write to the status.
func ReplicationControllerStatus(rc, _ *corev1.ReplicationController) field.ErrorList {
	s := &rc.Status
	return validateReplicaCounts(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas,
		s.ObservedGeneration, nil)
}
