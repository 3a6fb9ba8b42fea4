package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// systemPriorities are the values of the classes that every cluster has.
var systemPriorities = map[string]int32{"system-cluster-critical": 2_000_000_000,
	"system-node-critical": 2_000_001_000}

// mostPriority is the highest that a class of one's own may have.
const mostPriority = 1_000_000_000

// PriorityClass validates a new priority class: ValidatePriorityClass.
func PriorityClass(c *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if strings.HasPrefix(c.Name, "system-") {
		if why := notSystem(c); why != "" {
			errs = append(errs, field.Forbidden(field.NewPath("metadata", "name"), "priority class names with "+
				"'system-' prefix are reserved for system use only. error: "+why))
		}
	} else if c.Value > mostPriority {
		errs = append(errs, field.Forbidden(field.NewPath("value"),
			fmt.Sprintf("maximum allowed value of a user defined priority is %v", mostPriority)))
	}
	policies := []string{string(corev1.PreemptLowerPriority), string(corev1.PreemptNever)}
	switch p := c.PreemptionPolicy; {
	case p == nil, slices.Contains(policies, string(*p)):
	case *p == "":
		errs = append(errs, field.Required(field.NewPath("preemptionPolicy"), ""))
	default:
		errs = append(errs, field.NotSupported(field.NewPath("preemptionPolicy"), *p, policies))
	}
	return errs
}

func notSystem(c *schedulingv1.PriorityClass) string {
	value, known := systemPriorities[c.Name]
	switch {
	case !known:
		return c.Name + " is not a known system priority class"
	case c.Value != value:
		return fmt.Sprintf("value of %s PriorityClass must be %d", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", c.Name)
	}
	return ""
}

// PriorityClassUpdate validates a change: ValidatePriorityClassUpdate.
func PriorityClassUpdate(c, old *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if c.Value != old.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, apivalidation.ValidateImmutableField(c.PreemptionPolicy, old.PreemptionPolicy,
		field.NewPath("preemptionPolicy"))...)
}

// StorageClass validates a storage class: ValidateStorageClass without the size of
// its parameters and its topologies.
func StorageClass(c *storagev1.StorageClass) (errs field.ErrorList) {
	path := field.NewPath("provisioner")
	if c.Provisioner == "" {
		errs = append(errs, field.Required(path, ""))
	} else {
		for _, text := range validation.IsQualifiedName(strings.ToLower(c.Provisioner)) {
			errs = append(errs, field.Invalid(path, strings.ToLower(c.Provisioner), text))
		}
	}
	reclaim := []string{string(corev1.PersistentVolumeReclaimDelete), string(corev1.PersistentVolumeReclaimRetain)}
	if p := c.ReclaimPolicy; p != nil && *p != "" && !slices.Contains(reclaim, string(*p)) {
		errs = append(errs, field.NotSupported(field.NewPath("reclaimPolicy"), *p, reclaim))
	}
	modes := []string{string(storagev1.VolumeBindingImmediate), string(storagev1.VolumeBindingWaitForFirstConsumer)}
	switch m := c.VolumeBindingMode; {
	case m == nil:
		errs = append(errs, field.Required(field.NewPath("volumeBindingMode"), ""))
	case !slices.Contains(modes, string(*m)):
		errs = append(errs, field.NotSupported(field.NewPath("volumeBindingMode"), *m, modes))
	}
	return errs
}

// StorageClassUpdate validates a change: ValidateStorageClassUpdate.
func StorageClassUpdate(c, old *storagev1.StorageClass) field.ErrorList {
	errs := StorageClass(c)
	immutable := func(name string, now, was any) {
		if !equality.Semantic.DeepEqual(now, was) {
			errs = append(errs, apivalidation.ValidateImmutableField(now, was, field.NewPath(name))...)
		}
	}
	immutable("parameters", c.Parameters, old.Parameters)
	immutable("provisioner", c.Provisioner, old.Provisioner)
	immutable("reclaimPolicy", c.ReclaimPolicy, old.ReclaimPolicy)
	immutable("volumeBindingMode", c.VolumeBindingMode, old.VolumeBindingMode)
	return errs
}
