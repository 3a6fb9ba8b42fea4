package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// accessModes are the ways to mount a volume, sorted.
var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany,
	corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

var volumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}

// validateAccess checks access modes.
func validateAccess(modes []corev1.PersistentVolumeAccessMode, path *field.Path) (errs field.ErrorList) {
	single, other := false, false
	for i := range modes {
		errs = append(errs, among(&modes[i], path, accessModes...)...)
		single = single || modes[i] == corev1.ReadWriteOncePod
		other = other || modes[i] != corev1.ReadWriteOncePod && slices.Contains(accessModes, modes[i])
	}
	if single && other {
		errs = append(errs, field.Forbidden(path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}
