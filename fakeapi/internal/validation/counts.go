package validation

import (
	"strconv"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func nonNegative(value int64, path *field.Path, name string) field.ErrorList {
	if value >= 0 {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(value, path.Child(name))
}

func countOrPercent(v *intstr.IntOrString, path *field.Path) (errs field.ErrorList) {
	if v.Type == intstr.Int {
		return apivalidation.ValidateNonnegativeField(int64(v.IntVal), path)
	}
	for _, msg := range utilvalidation.IsValidPercent(v.StrVal) {
		errs = append(errs, field.Invalid(path, *v, msg))
	}
	return errs
}

func percent(v *intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(utilvalidation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(v.StrVal[:len(v.StrVal)-1])
	return n, err == nil
}

func amount(v *intstr.IntOrString) int {
	if n, ok := percent(v); ok {
		return n
	}
	return v.IntValue()
}

func atMostAll(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	if n, ok := percent(v); ok && n > 100 {
		return field.ErrorList{field.Invalid(path, *v, "must not be greater than 100%")}
	}
	return nil
}

// count is a number in a status.
type count struct {
	name string
	n    int32
}

func notAbove(most int32, msg string, counts ...count) (errs field.ErrorList) {
	for _, c := range counts {
		if c.n > most {
			errs = append(errs, field.Invalid(statusPath.Child(c.name), c.n, msg))
		}
	}
	return errs
}

func notLowered(now, was *int32) field.ErrorList {
	if was == nil || now != nil && *now >= *was {
		return nil
	}
	value := int32(0)
	if now != nil {
		value = *now
	}
	return field.ErrorList{field.Invalid(statusPath.Child("collisionCount"), value, "cannot be decremented")}
}

// Scale checks the scale of an object that a client sends.
func Scale(s *autoscalingv1.Scale, namespaced bool) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&s.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain, metadata.Path)
	return append(errs, nonNegative(int64(s.Spec.Replicas), specPath, "replicas")...)
}

// validateReplicaCounts checks the status of a kind that counts Pods.
func validateReplicaCounts(replicas, labelled, ready, available int32, observed int64,
	terminating *int32) field.ErrorList {
	errs := nonNegative(int64(replicas), statusPath, "replicas")
	errs = append(errs, nonNegative(int64(labelled), statusPath, "fullyLabeledReplicas")...)
	errs = append(errs, nonNegative(int64(ready), statusPath, "readyReplicas")...)
	errs = append(errs, nonNegative(int64(available), statusPath, "availableReplicas")...)
	errs = append(errs, nonNegative(observed, statusPath, "observedGeneration")...)
	if terminating != nil {
		errs = append(errs, nonNegative(int64(*terminating), statusPath, "terminatingReplicas")...)
	}
	const msg = "cannot be greater than status.replicas"
	if labelled > replicas {
		errs = append(errs, field.Invalid(statusPath.Child("fullyLabeledReplicas"), labelled, msg))
	}
	if ready > replicas {
		errs = append(errs, field.Invalid(statusPath.Child("readyReplicas"), ready, msg))
	}
	if available > replicas {
		errs = append(errs, field.Invalid(statusPath.Child("availableReplicas"), available, msg))
	}
	if available > ready {
		errs = append(errs, field.Invalid(statusPath.Child("availableReplicas"), available,
			"cannot be greater than readyReplicas"))
	}
	return errs
}
