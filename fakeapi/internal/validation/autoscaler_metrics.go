package validation

import (
	"fmt"
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

// validateMetrics checks what an autoscaler goes by. It can go to zero only by what is
// measured elsewhere than in its Pods.
func validateMetrics(s *autoscalingv2.HorizontalPodAutoscalerSpec, path *field.Path) (errs field.ErrorList) {
	elsewhere := false
	for i := range s.Metrics {
		errs = append(errs, validateMetric(&s.Metrics[i], path.Index(i))...)
		elsewhere = elsewhere || s.Metrics[i].Type == autoscalingv2.ObjectMetricSourceType ||
			s.Metrics[i].Type == autoscalingv2.ExternalMetricSourceType
	}
	if *s.MinReplicas == 0 && !elsewhere {
		errs = append(errs, field.Forbidden(path,
			"must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	return errs
}

func validateMetric(m *autoscalingv2.MetricSpec, path *field.Path) (errs field.ErrorList) {
	at, known := path.Child("type"), slices.Contains(metricTypes, string(m.Type))
	if m.Type == "" {
		errs = append(errs, field.Required(at, "must specify a metric source type"))
	}
	if !known {
		errs = append(errs, field.NotSupported(at, m.Type, metricTypes))
	}
	given := map[string]bool{}
	one := func(set bool, name string, check func(at *field.Path) field.ErrorList) {
		if !set {
			return
		}
		given[name] = true
		if len(given) == 1 {
			errs = append(errs, check(path.Child(name))...)
		}
	}
	one(m.Object != nil, "object", func(at *field.Path) field.ErrorList { return validateObjectMetric(m.Object, at) })
	one(m.External != nil, "external", func(at *field.Path) field.ErrorList {
		return validateExternalMetric(m.External, at)
	})
	one(m.Pods != nil, "pods", func(at *field.Path) field.ErrorList { return validatePodsMetric(m.Pods, at) })
	one(m.Resource != nil, "resource", func(at *field.Path) field.ErrorList {
		errs := metricName(string(m.Resource.Name), "must specify a resource name", at)
		return append(errs, validateUsage(&m.Resource.Target, at.Child("target"))...)
	})
	one(m.ContainerResource != nil, "containerResource", func(at *field.Path) field.ErrorList {
		return validateContainerMetric(m.ContainerResource, at)
	})
	wanted := map[string]string{"Object": "object", "Pods": "pods", "Resource": "resource", "External": "external",
		"ContainerResource": "containerResource"}[string(m.Type)]
	if !known {
		errs = append(errs, field.NotSupported(at, m.Type, metricTypes))
	} else if !given[wanted] {
		errs = append(errs, field.Required(path.Child(wanted), "must populate information for the given metric source"))
	}
	if len(given) != 1 {
		delete(given, wanted)
		for _, name := range slices.Sorted(maps.Keys(given)) {
			errs = append(errs, field.Forbidden(path.Child(name), "must populate the given metric source only"))
		}
	}
	return errs
}

func metricName(name, none string, path *field.Path) field.ErrorList {
	if name != "" {
		return nil
	}
	return field.ErrorList{field.Required(path.Child("name"), none)}
}

func validateIdentifier(id *autoscalingv2.MetricIdentifier, path *field.Path) field.ErrorList {
	if id.Name == "" {
		return metricName("", "must specify a metric name", path)
	}
	return named(id.Name, path.Child("name"), plain(content.IsPathSegmentName))
}

func validateObjectMetric(m *autoscalingv2.ObjectMetricSource, path *field.Path) field.ErrorList {
	errs := validateReference(&m.DescribedObject, true, path.Child("describedObject"))
	errs = append(errs, validateIdentifier(&m.Metric, path.Child("metric"))...)
	at := path.Child("target")
	errs = append(errs, validateMetricTarget(&m.Target, at)...)
	if m.Target.Value == nil && m.Target.AverageValue == nil {
		errs = append(errs, field.Required(at.Child("averageValue"), "must set either a target value or averageValue"))
	}
	return errs
}

func validateExternalMetric(m *autoscalingv2.ExternalMetricSource, path *field.Path) field.ErrorList {
	errs := validateIdentifier(&m.Metric, path.Child("metric"))
	at := path.Child("target")
	errs = append(errs, validateMetricTarget(&m.Target, at)...)
	switch value, average := m.Target.Value != nil, m.Target.AverageValue != nil; {
	case !value && !average:
		errs = append(errs, field.Required(at.Child("averageValue"),
			"must set either a target value for metric or a per-pod target"))
	case value && average:
		errs = append(errs, field.Forbidden(at.Child("value"),
			"may not set both a target value for metric and a per-pod target"))
	}
	return errs
}

func validatePodsMetric(m *autoscalingv2.PodsMetricSource, path *field.Path) field.ErrorList {
	errs := validateIdentifier(&m.Metric, path.Child("metric"))
	at := path.Child("target")
	errs = append(errs, validateMetricTarget(&m.Target, at)...)
	if m.Target.AverageValue == nil {
		errs = append(errs, field.Required(at.Child("averageValue"), "must specify a positive target averageValue"))
	}
	return errs
}

func validateContainerMetric(m *autoscalingv2.ContainerResourceMetricSource, path *field.Path) field.ErrorList {
	errs := metricName(string(m.Name), "must specify a resource name", path)
	if m.Name != "" {
		errs = append(errs, containerResource(m.Name, path.Child("name"))...)
	}
	if at := path.Child("container"); m.Container == "" {
		errs = append(errs, field.Required(at, "must specify a container"))
	} else {
		errs = append(errs, label(m.Container, at)...)
	}
	return append(errs, validateUsage(&m.Target, path.Child("target"))...)
}

// validateUsage checks a target of what Pods use: an amount, or a part of what they ask for.
func validateUsage(t *autoscalingv2.MetricTarget, path *field.Path) field.ErrorList {
	errs := validateMetricTarget(t, path)
	switch part, amount := t.AverageUtilization != nil, t.AverageValue != nil; {
	case !part && !amount:
		errs = append(errs, field.Required(path.Child("averageUtilization"),
			"must set either a target raw value or a target utilization"))
	case part && amount:
		errs = append(errs, field.Forbidden(path.Child("averageValue"),
			"may not set both a target raw value and a target utilization"))
	}
	return errs
}

func validateMetricTarget(t *autoscalingv2.MetricTarget, path *field.Path) (errs field.ErrorList) {
	if t.Type == "" {
		errs = append(errs, field.Required(path.Child("type"), "must specify a metric target type"))
	}
	switch t.Type {
	case autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType:
	default:
		errs = append(errs, field.Invalid(path.Child("type"), t.Type,
			"must be either Utilization, Value, or AverageValue"))
	}
	if t.Value != nil && t.Value.Sign() != 1 {
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be positive"))
	}
	if t.AverageValue != nil && t.AverageValue.Sign() != 1 {
		errs = append(errs, field.Invalid(path.Child("averageValue"), t.AverageValue, "must be positive"))
	}
	if t.AverageUtilization != nil && *t.AverageUtilization < 1 {
		errs = append(errs, field.Invalid(path.Child("averageUtilization"), t.AverageUtilization,
			"must be greater than 0"))
	}
	return errs
}

// validateBehavior checks how fast an autoscaler may act.
func validateBehavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior, path *field.Path) (errs field.ErrorList) {
	for _, one := range [...]struct {
		name  string
		rules *autoscalingv2.HPAScalingRules
	}{{"scaleUp", b.ScaleUp}, {"scaleDown", b.ScaleDown}} {
		if one.rules != nil {
			errs = append(errs, validateScalingRules(one.rules, path.Child(one.name))...)
		}
	}
	return errs
}

func validateScalingRules(r *autoscalingv2.HPAScalingRules, path *field.Path) (errs field.ErrorList) {
	if w := r.StabilizationWindowSeconds; w != nil && *w < 0 {
		errs = append(errs, field.Invalid(path.Child("stabilizationWindowSeconds"), w,
			"must be greater than or equal to zero"))
	} else if w != nil && *w > 3600 {
		errs = append(errs, field.Invalid(path.Child("stabilizationWindowSeconds"), w,
			"must be less than or equal to 3600"))
	}
	errs = append(errs, among(r.SelectPolicy, path.Child("selectPolicy"), autoscalingv2.DisabledPolicySelect,
		autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)...)
	at := path.Child("policies")
	if len(r.Policies) == 0 {
		errs = append(errs, field.Required(at, "must specify at least one Policy"))
	}
	for i := range r.Policies {
		p, at := &r.Policies[i], at.Index(i)
		errs = append(errs, among(&p.Type, at.Child("type"), autoscalingv2.PercentScalingPolicy,
			autoscalingv2.PodsScalingPolicy)...)
		if p.Value <= 0 {
			errs = append(errs, field.Invalid(at.Child("value"), p.Value, "must be greater than zero"))
		}
		if p.PeriodSeconds <= 0 {
			errs = append(errs, field.Invalid(at.Child("periodSeconds"), p.PeriodSeconds, "must be greater than zero"))
		}
		if p.PeriodSeconds > 1800 {
			errs = append(errs, field.Invalid(at.Child("periodSeconds"), p.PeriodSeconds,
				fmt.Sprintf("must be less than or equal to %d", 1800)))
		}
	}
	if r.Tolerance != nil {
		errs = append(errs, notNegative(*r.Tolerance, path.Child("tolerance"))...)
	}
	return errs
}
