package registry

import (
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var priorityClasses = goType[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](&Kind{
	GVK:      schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
	Resource: "priorityclasses", Singular: "priorityclass", ShortNames: []string{"pc"},
	Default: On(schedulingdefaults.SetObjectDefaults_PriorityClass),
	strategy: strategy{
		PrepareCreate: first,
		Create:        validation.PriorityClass.Create,
		Main:          Update{Judge: validation.PriorityClass.Update},
	},
})

var runtimeClasses = goType[nodev1.RuntimeClass, nodev1.RuntimeClassList](&Kind{
	GVK:      nodev1.SchemeGroupVersion.WithKind("RuntimeClass"),
	Resource: "runtimeclasses", Singular: "runtimeclass", CreateOnUpdate: true, MustVersion: true,
	strategy: strategy{
		Create: validation.RuntimeClass.Create,
		Main: Update{
			Judge: validation.RuntimeClass.Update,
		},
	},
})
