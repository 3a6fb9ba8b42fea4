package metadata

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateFinalizers is what built-in kinds ask of finalizers beyond the
// common rules: to be qualified, or one of the standard ones.
func ValidateFinalizers(m metav1.Object) (errs field.ErrorList) {
	for i, f := range m.GetFinalizers() {
		if !strings.Contains(f, "/") && !StandardFinalizer(f) {
			errs = append(errs, field.Invalid(Path.Child("finalizers").Index(i), f,
				"name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

// PathSegment is the rule every name keeps: it can stand in a path.
func PathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// StandardFinalizer says whether a finalizer is one of those that need not be qualified.
func StandardFinalizer(f string) bool {
	return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents ||
		f == "kubernetes"
}
