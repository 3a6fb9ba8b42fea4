package validation

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateRequests: nobody may ask for more than his limit. Of
// ValidateContainerResourceRequirements it is what a limit range can make wrong
// (admission/limitrange-defaults), in the order of names.
func validateRequests(r *corev1.ResourceRequirements, path func() *field.Path) (errs field.ErrorList) {
	if len(r.Requests) == 0 || len(r.Limits) == 0 {
		return nil
	}
	var names []corev1.ResourceName
	for name := range r.Requests {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		limit, limited := r.Limits[name]
		if request := r.Requests[name]; limited && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path().Child("requests"), request.String(),
				fmt.Sprintf("must be less than or equal to %s limit of %s", name, limit.String())))
		}
	}
	return errs
}

// ClaimUpdate: a claim asks for no less than it did, but for what a resize that failed
// has not taken (admission/default-storageclass).
func ClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	size, was := c.Spec.Resources.Requests.Storage(), old.Spec.Resources.Requests.Storage()
	if size.Cmp(*was) < 0 && size.Cmp(*old.Status.Capacity.Storage()) <= 0 {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "resources", "requests", "storage"),
			"field can not be less than status.capacity")}
	}
	return nil
}
