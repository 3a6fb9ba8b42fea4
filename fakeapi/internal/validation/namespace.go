package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Namespace checks what holds a namespace that is to be deleted.
func Namespace(ns *corev1.Namespace) (errs field.ErrorList) {
	for _, f := range ns.Spec.Finalizers {
		errs = append(errs, finalizerName(string(f), specPath.Child("finalizers"))...)
	}
	return errs
}

// NamespaceFinalize is Namespace where each name is called by its number.
func NamespaceFinalize(ns, _ *corev1.Namespace) (errs field.ErrorList) {
	for i, f := range ns.Spec.Finalizers {
		errs = append(errs, finalizerName(string(f), specPath.Child("finalizers").Index(i))...)
	}
	return errs
}

func finalizerName(name string, path *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizerName(name, path)
	if !strings.Contains(name, "/") && !metadata.StandardFinalizer(name) {
		errs = append(errs, field.Invalid(path, name,
			"name is neither a standard finalizer name nor is it fully qualified"))
	}
	return errs
}

// NamespaceStatus checks that the phase says whether the namespace is being deleted.
func NamespaceStatus(ns, _ *corev1.Namespace) field.ErrorList {
	path, phase := field.NewPath("status", "Phase"), ns.Status.Phase
	switch {
	case ns.DeletionTimestamp.IsZero() && phase != corev1.NamespaceActive:
		return field.ErrorList{field.Invalid(path, phase, "may only be 'Active' if `deletionTimestamp` is empty")}
	case !ns.DeletionTimestamp.IsZero() && phase != corev1.NamespaceTerminating:
		return field.ErrorList{field.Invalid(path, phase,
			"may only be 'Terminating' if `deletionTimestamp` is not empty")}
	}
	return nil
}
