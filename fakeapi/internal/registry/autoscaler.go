package registry

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	autoscalingv1defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v1"
	autoscalingv2defaults "k8s.io/kubernetes/pkg/apis/autoscaling/v2"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var autoscalers = goType[autoscalingv2.HorizontalPodAutoscaler, autoscalingv2.HorizontalPodAutoscalerList](&Kind{
	GVK:      autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	Resource: "horizontalpodautoscalers", Singular: "horizontalpodautoscaler", ShortNames: []string{"hpa"},
	Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(autoscalingv2defaults.SetObjectDefaults_HorizontalPodAutoscaler),
	strategy: strategy{
		Canonicalize: asStored,
		PrepareCreate: On(func(a *autoscalingv2.HorizontalPodAutoscaler) {
			a.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
		}),
		Create: validation.Autoscaler.Create,
		Main: Update{
			Prepare: Over(func(a, old *autoscalingv2.HorizontalPodAutoscaler) { a.Status = old.Status }),
			Judge:   validation.Autoscaler.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *autoscalingv2.HorizontalPodAutoscaler) { a.Spec = old.Spec }),
			Judge:   validation.Autoscaler.Status,
		},
	},
})

// autoscalersV1 are the same objects with one target, the CPU's utilization,
// and everything else in annotations.
var autoscalersV1 = makeAutoscalersV1()

func makeAutoscalersV1() *Kind {
	k := goType[autoscalingv1.HorizontalPodAutoscaler, autoscalingv1.HorizontalPodAutoscalerList](&Kind{
		GVK:     autoscalingv1.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
		Default: On(autoscalingv1defaults.SetObjectDefaults_HorizontalPodAutoscaler),
	})
	show := through(autoscalingv2defaults.Convert_v2_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler,
		autoscalingv1defaults.Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler)
	keep := through(autoscalingv1defaults.Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler,
		autoscalingv2defaults.Convert_autoscaling_HorizontalPodAutoscaler_To_v2_HorizontalPodAutoscaler)
	k.View = between(autoscalers, k, show,
		func(a *autoscalingv1.HorizontalPodAutoscaler) *autoscalingv2.HorizontalPodAutoscaler {
			out := keep(a)
			autoscalingv2defaults.SetObjectDefaults_HorizontalPodAutoscaler(out)
			return out
		})
	version(k)
	k.Create, k.Main.Judge = validation.AutoscalerV1.Create, validation.AutoscalerV1.Update
	k.ForStatus.Judge = validation.AutoscalerV1.Status
	return k
}
