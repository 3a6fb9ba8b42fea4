package registry

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var replicaSets = goType[appsv1.ReplicaSet, appsv1.ReplicaSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Resource: "replicasets", Singular: "replicaset",
	ShortNames: []string{"rs"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultReplicaSet),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(rs *appsv1.ReplicaSet) {
			rs.Status, rs.Generation = appsv1.ReplicaSetStatus{}, 1
		}),
		ValidateCreate: Check(validation.ReplicaSet),
		WarnCreate: Warns(func(o *appsv1.ReplicaSet) []string {
			return append(validation.WarnPodPrefix(o), validation.WarnTemplate(&o.Spec.Template, template)...)
		}),
		Main: Update{
			Prepare: Over(func(rs, old *appsv1.ReplicaSet) {
				rs.Status = old.Status
				if !same.Value(&rs.Spec, &old.Spec) {
					rs.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.ReplicaSetUpdate), again: checks{onUpdate}, Keeps: true,
			Warn: WarnsChanged(func(o *appsv1.ReplicaSet) []string {
				return validation.WarnTemplate(&o.Spec.Template, template)
			}),
		},
		ForStatus: Update{
			Prepare:  Over(func(rs, old *appsv1.ReplicaSet) { rs.Spec = old.Spec }),
			Validate: Compare(validation.ReplicaSetStatus), again: checks{onUpdate}, Keeps: true,
		},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				rs := obj.(*appsv1.ReplicaSet)
				return *rs.Spec.Replicas, rs.Status.Replicas, selectorText(rs.Spec.Selector)
			},
			Write: func(obj runtime.Object, want int32) { obj.(*appsv1.ReplicaSet).Spec.Replicas = &want },
		},
	},
})

func defaultReplicaSet(rs *appsv1.ReplicaSet) {
	if rs.Spec.Replicas == nil {
		rs.Spec.Replicas = new(int32)
		*rs.Spec.Replicas = 1
	}
	defaultPodSpec(&rs.Spec.Template.Spec)
}
