package validation

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Autoscaler checks the bounds, the target and the types of the
// metrics. What a metric says is stored as it comes.
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
	for i := range s.Metrics {
		path := specPath.Child("metrics").Index(i).Child("type")
		if s.Metrics[i].Type == "" {
			errs = append(errs, field.Required(path, "must specify a metric source type"))
		}
		if kind := string(s.Metrics[i].Type); !slices.Contains(metricTypes, kind) {
			errs = append(errs, field.NotSupported(path, s.Metrics[i].Type, metricTypes))
		}
	}
	return errs
}

var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

func validateTarget(ref *autoscalingv2.CrossVersionObjectReference,
	old *autoscalingv2.HorizontalPodAutoscaler) (errs field.ErrorList) {
	path := specPath.Child("scaleTargetRef")
	for _, part := range [...]struct{ name, value string }{{"kind", ref.Kind}, {"name", ref.Name}} {
		if part.value == "" {
			errs = append(errs, field.Required(path.Child(part.name), ""))
			continue
		}
		for _, msg := range content.IsPathSegmentName(part.value) {
			errs = append(errs, field.Invalid(path.Child(part.name), part.value, msg))
		}
	}
	if old != nil && old.Spec.ScaleTargetRef.APIVersion == ref.APIVersion && old.Spec.ScaleTargetRef.Kind == ref.Kind {
		return errs
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	switch {
	case err != nil:
		errs = append(errs, field.Invalid(path.Child("apiVersion"), ref.APIVersion, err.Error()))
	case gv.Group == "" && ref.Kind != "ReplicationController":
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
