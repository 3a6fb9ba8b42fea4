package registry

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var priorityClasses = goType[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](&Kind{
	GVK:      schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
	Resource: "priorityclasses", Singular: "priorityclass", ShortNames: []string{"pc"},
	Default: On(func(c *schedulingv1.PriorityClass) {
		orDefault(&c.PreemptionPolicy, corev1.PreemptLowerPriority)
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, PrepareCreate: first,
		ValidateCreate: Check(validation.PriorityClass),
		Main:           Update{Validate: Compare(validation.PriorityClassUpdate), again: checks{onUpdate}},
	},
})

var runtimeClasses = goType[nodev1.RuntimeClass, nodev1.RuntimeClassList](&Kind{
	GVK:      nodev1.SchemeGroupVersion.WithKind("RuntimeClass"),
	Resource: "runtimeclasses", Singular: "runtimeclass", CreateOnUpdate: true, MustVersion: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, AnyFinalizer: true,
		ValidateCreate: Check(validation.RuntimeClass),
		WarnCreate:     Warns(validation.WarnRuntimeClass),
		Main: Update{
			Validate: Compare(validation.RuntimeClassUpdate), again: checks{onCreate}, after: checks{onUpdate},
			Warn: WarnsAgain(validation.WarnRuntimeClass),
		},
	},
})
