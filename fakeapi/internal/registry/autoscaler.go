package registry

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var autoscalers = goType[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList](&Kind{
	GVK:      autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	Resource: "horizontalpodautoscalers", Singular: "horizontalpodautoscaler", ShortNames: []string{"hpa"},
	Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultAutoscaler),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, Canonicalize: asStored,
		PrepareCreate: On(func(a *autoscalingv2.HorizontalPodAutoscaler) {
			a.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
		}),
		ValidateCreate: Check(func(a *autoscalingv2.HorizontalPodAutoscaler) field.ErrorList {
			return validation.Autoscaler(a, nil)
		}),
		Main: Update{
			Prepare:  Over(func(a, old *autoscalingv2.HorizontalPodAutoscaler) { a.Status = old.Status }),
			Validate: Compare(validation.Autoscaler), again: checks{onUpdate},
		},
		ForStatus: Update{
			Prepare:  Over(func(a, old *autoscalingv2.HorizontalPodAutoscaler) { a.Spec = old.Spec }),
			Validate: Compare(validation.AutoscalerStatus), again: checks{onUpdate},
		},
	},
})

// autoscalersV1 are the same objects with one target, the CPU's utilization,
// and everything else in annotations.
var autoscalersV1 = makeAutoscalersV1()

func makeAutoscalersV1() *Kind {
	k := goType[autoscalingv1.HorizontalPodAutoscaler, autoscalingv1.HorizontalPodAutoscalerList](&Kind{
		GVK: autoscalingv1.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
		Default: On(func(a *autoscalingv1.HorizontalPodAutoscaler) {
			if a.Spec.MinReplicas == nil {
				a.Spec.MinReplicas = new(int32(1))
			}
		}),
	})
	k.View = between(autoscalers, k, showAutoscaler, keepAutoscaler)
	return version(k)
}

// cpuTarget is the metric that an autoscaler has when it names none.
func cpuTarget(percent int32) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType,
		Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType,
				AverageUtilization: &percent}}}
}

const defaultUtilization = 80

func defaultAutoscaler(a *autoscalingv2.HorizontalPodAutoscaler) {
	if a.Spec.MinReplicas == nil {
		a.Spec.MinReplicas = new(int32(1))
	}
	if len(a.Spec.Metrics) == 0 {
		a.Spec.Metrics = []autoscalingv2.MetricSpec{cpuTarget(defaultUtilization)}
	}
	b := a.Spec.Behavior
	if b == nil {
		return
	}
	most := autoscalingv2.MaxChangePolicySelect
	percent := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15}
	pods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15}
	b.ScaleUp = overRules(b.ScaleUp, autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: new(int32(0)),
		SelectPolicy: &most,
		Policies:     []autoscalingv2.HPAScalingPolicy{pods, percent}})
	b.ScaleDown = overRules(b.ScaleDown,
		autoscalingv2.HPAScalingRules{SelectPolicy: &most, Policies: []autoscalingv2.HPAScalingPolicy{percent}})
}

// overRules lays the rules given over the rules by default.
func overRules(given *autoscalingv2.HPAScalingRules,
	rules autoscalingv2.HPAScalingRules) *autoscalingv2.HPAScalingRules {
	if given == nil {
		return &rules
	}
	if given.SelectPolicy != nil {
		rules.SelectPolicy = given.SelectPolicy
	}
	if given.StabilizationWindowSeconds != nil {
		rules.StabilizationWindowSeconds = given.StabilizationWindowSeconds
	}
	if given.Policies != nil {
		rules.Policies = given.Policies
	}
	rules.Tolerance = given.Tolerance
	return &rules
}
