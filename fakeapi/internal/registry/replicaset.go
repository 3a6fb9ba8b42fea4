package registry

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var replicaSets = goType[appsv1.ReplicaSet, appsv1.ReplicaSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Resource: "replicasets", Singular: "replicaset",
	ShortNames: []string{"rs"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultReplicaSet),
	strategy: strategy{
		PrepareCreate: On(func(rs *appsv1.ReplicaSet) {
			rs.Status, rs.Generation = appsv1.ReplicaSetStatus{}, 1
		}),
		Create: validation.ReplicaSet.Create,
		Main: Update{
			Prepare: Over(func(rs, old *appsv1.ReplicaSet) {
				rs.Status = old.Status
				if !same.Value(&rs.Spec, &old.Spec) {
					rs.Generation = old.Generation + 1
				}
			}),
			Judge: validation.ReplicaSet.Update, Keeps: true,
		},
		ForStatus: Update{
			Prepare: Over(func(rs, old *appsv1.ReplicaSet) { rs.Spec = old.Spec }),
			Judge:   validation.ReplicaSet.Status, Keeps: true,
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
	appsdefaults.SetObjectDefaults_ReplicaSet(rs)
	settleTemplate(&rs.Spec.Template)
}
