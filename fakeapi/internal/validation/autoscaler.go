package validation

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Autoscaler checks the bounds, the target, the metrics and how fast they may act.
func Autoscaler(a, old *autoscalingv2.HorizontalPodAutoscaler) (errs field.ErrorList) {
	s := &a.Spec
	least := int32(1)
	if old != nil && old.Spec.MinReplicas != nil && *old.Spec.MinReplicas == 0 {
		least = 0
	}
	if *s.MinReplicas < least {
		errs = append(errs, field.Invalid(specPath.Child("minReplicas"), *s.MinReplicas,
			"must be greater than or equal to "+string('0'+least)))
	}
	switch path := specPath.Child("maxReplicas"); {
	case s.MaxReplicas == 0:
		errs = append(errs, field.Required(path, "must be set and greater than 0"))
	case s.MaxReplicas < 0:
		errs = append(errs, field.Invalid(path, s.MaxReplicas, "must be greater than or equal to 1"))
	}
	if s.MaxReplicas < *s.MinReplicas {
		errs = append(errs, field.Invalid(specPath.Child("maxReplicas"), s.MaxReplicas,
			"must be greater than or equal to `minReplicas`"))
	}
	errs = append(errs, validateTarget(&s.ScaleTargetRef, old)...)
	errs = append(errs, validateMetrics(s, specPath.Child("metrics"))...)
	if s.Behavior != nil {
		errs = append(errs, validateBehavior(s.Behavior, specPath.Child("behavior"))...)
	}
	return errs
}

// validateTarget checks what is scaled. An API version that was stored may stay.
func validateTarget(ref *autoscalingv2.CrossVersionObjectReference,
	old *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	path := specPath.Child("scaleTargetRef")
	if old != nil && old.Spec.ScaleTargetRef.APIVersion == ref.APIVersion && old.Spec.ScaleTargetRef.Kind == ref.Kind {
		return validateKindAndName(ref, path)
	}
	return validateReference(ref, ref.Kind == "ReplicationController", path)
}

func validateKindAndName(ref *autoscalingv2.CrossVersionObjectReference, path *field.Path) field.ErrorList {
	rule := plain(content.IsPathSegmentName)
	return append(mustName(ref.Kind, path.Child("kind"), rule), mustName(ref.Name, path.Child("name"), rule)...)
}

// validateReference checks a reference. core: the kind may be of the group without a name.
func validateReference(ref *autoscalingv2.CrossVersionObjectReference, core bool, path *field.Path) field.ErrorList {
	errs := validateKindAndName(ref, path)
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	switch {
	case err != nil:
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, err.Error()))
	case gv.Group == "" && !core:
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion,
			"apiVersion must specify API group"))
	}
	return errs
}

// AutoscalerStatus checks a write to the status of a HorizontalPodAutoscaler.
func AutoscalerStatus(a, _ *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
	errs := nonNegative(int64(a.Status.CurrentReplicas), statusPath, "currentReplicas")
	return append(errs, nonNegative(int64(a.Status.DesiredReplicas), statusPath, "desiredReplicas")...)
}
