package validation

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// ReplicaSet checks the spec of a ReplicaSet.
func ReplicaSet(rs *appsv1.ReplicaSet) field.ErrorList {
	errs := nonNegative(int64(*rs.Spec.Replicas), specPath, "replicas")
	errs = append(errs, nonNegative(int64(rs.Spec.MinReadySeconds), specPath, "minReadySeconds")...)
	t, path := &rs.Spec.Template, specPath.Child("template")
	more, ok := validateSelector(rs.Spec.Selector, t, "empty selector is invalid for deployment",
		"invalid label selector")
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
	if rs.Spec.Selector != nil && old.Spec.Selector != nil && same.Value(rs.Spec.Selector, old.Spec.Selector) &&
		same.Value(&rs.Spec.Template, &old.Spec.Template) {
		errs := nonNegative(int64(*rs.Spec.Replicas), specPath, "replicas")
		return append(errs, nonNegative(int64(rs.Spec.MinReadySeconds), specPath, "minReadySeconds")...)
	}
	return append(ReplicaSet(rs), apivalidation.ValidateImmutableField(rs.Spec.Selector, old.Spec.Selector,
		specPath.Child("selector"))...)
}

// ReplicaSetStatus checks a write to the status.
func ReplicaSetStatus(rs, _ *appsv1.ReplicaSet) field.ErrorList {
	s := &rs.Status
	return validateReplicaCounts(s.Replicas, s.FullyLabeledReplicas, s.ReadyReplicas, s.AvailableReplicas,
		s.ObservedGeneration, s.TerminatingReplicas)
}
