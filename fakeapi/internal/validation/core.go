package validation

import (
	"bytes"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func ConfigMap(c *corev1.ConfigMap) (errs field.ErrorList) {
	total := 0
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, msg))
		}
		if _, ok := c.BinaryData[key]; ok {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		total += len(c.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(c.BinaryData)) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("binaryData").Key(key), key, msg))
		}
		total += len(c.BinaryData[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

func ConfigMapUpdate(c, old *corev1.ConfigMap) (errs field.ErrorList) {
	if old.Immutable != nil && *old.Immutable {
		const msg = "field is immutable when `immutable` is set"
		if c.Immutable == nil || !*c.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), msg))
		}
		if !maps.Equal(c.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), msg))
		}
		if !maps.EqualFunc(c.BinaryData, old.BinaryData, bytes.Equal) {
			errs = append(errs, field.Forbidden(field.NewPath("binaryData"), msg))
		}
	}
	return append(errs, ConfigMap(c)...)
}

func ReplicationController(rc *corev1.ReplicationController) field.ErrorList {
	s := &rc.Spec
	errs := nonNegative(int64(s.MinReadySeconds), SpecPath, "minReadySeconds")
	if len(s.Selector) == 0 {
		errs = append(errs, field.Required(SpecPath.Child("selector"), ""))
	}
	errs = append(errs, nonNegative(int64(*s.Replicas), SpecPath, "replicas")...)
	path := SpecPath.Child("template")
	if s.Template == nil {
		return append(errs, field.Required(path, ""))
	}
	if len(s.Selector) > 0 && !labels.SelectorFromSet(s.Selector).Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, validateTemplate(s.Template, path)...)
	return append(errs, alwaysRestarts(s.Template, path, "ReplicationController")...)
}

// alwaysRestarts checks a template whose Pods are to run for ever.
func alwaysRestarts(t *corev1.PodTemplateSpec, path *field.Path, kind string) (errs field.ErrorList) {
	if t.Spec.RestartPolicy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(path.Child("spec", "restartPolicy"), t.Spec.RestartPolicy, []string{string(corev1.RestartPolicyAlways)}))
	}
	if t.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(path.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return errs
}

func ReplicationControllerUpdate(rc, _ *corev1.ReplicationController) field.ErrorList {
	return ReplicationController(rc)
}

func ReplicationControllerStatus(rc, _ *corev1.ReplicationController) field.ErrorList {
	s := &rc.Status
	return validateReplicaCounts(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas, s.ObservedGeneration, nil)
}

// validateReplicaCounts checks the status of a kind that counts Pods.
func validateReplicaCounts(replicas, labelled, ready, available int32, observed int64, terminating *int32) field.ErrorList {
	errs := nonNegative(int64(replicas), StatusPath, "replicas")
	errs = append(errs, nonNegative(int64(labelled), StatusPath, "fullyLabeledReplicas")...)
	errs = append(errs, nonNegative(int64(ready), StatusPath, "readyReplicas")...)
	errs = append(errs, nonNegative(int64(available), StatusPath, "availableReplicas")...)
	errs = append(errs, nonNegative(observed, StatusPath, "observedGeneration")...)
	if terminating != nil {
		errs = append(errs, nonNegative(int64(*terminating), StatusPath, "terminatingReplicas")...)
	}
	const msg = "cannot be greater than status.replicas"
	if labelled > replicas {
		errs = append(errs, field.Invalid(StatusPath.Child("fullyLabeledReplicas"), labelled, msg))
	}
	if ready > replicas {
		errs = append(errs, field.Invalid(StatusPath.Child("readyReplicas"), ready, msg))
	}
	if available > replicas {
		errs = append(errs, field.Invalid(StatusPath.Child("availableReplicas"), available, msg))
	}
	if available > ready {
		errs = append(errs, field.Invalid(StatusPath.Child("availableReplicas"), available, "cannot be greater than readyReplicas"))
	}
	return errs
}
