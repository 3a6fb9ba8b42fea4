package fakeapi

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

var appsKinds = []*row{replicaSets, deployments, statefulSets, daemonSets, controllerRevisions}

var replicaSets = goType[appsv1.ReplicaSet, appsv1.ReplicaSetList](&row{
	GVK: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Resource: "replicasets", Singular: "replicaset",
	ShortNames: []string{"rs"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: on(defaultReplicaSet),
	strategy: strategy{
		name: apivalidation.NameIsDNSSubdomain,
		prepareCreate: on(func(rs *appsv1.ReplicaSet) {
			rs.Status, rs.Generation = appsv1.ReplicaSetStatus{}, 1
		}),
		validateCreate: check(validateReplicaSet),
		warnCreate:     func(obj runtime.Object) []string { return warnPodPrefix(metaOf(obj)) },
		main: update{
			prepare: over(func(rs, old *appsv1.ReplicaSet) {
				rs.Status = old.Status
				if !same(&rs.Spec, &old.Spec) {
					rs.Generation = old.Generation + 1
				}
			}),
			validate: compare(validateReplicaSetUpdate), again: []metaCheck{onUpdate}, keeps: true,
		},
		status: update{
			prepare:  over(func(rs, old *appsv1.ReplicaSet) { rs.Spec = old.Spec }),
			validate: compare(validateReplicaSetStatus), again: []metaCheck{onUpdate}, keeps: true,
		},
		scale: &scaling{
			read: func(obj runtime.Object) (int32, int32, string) {
				rs := obj.(*appsv1.ReplicaSet)
				return *rs.Spec.Replicas, rs.Status.Replicas, selectorText(rs.Spec.Selector)
			},
			write: func(obj runtime.Object, want int32) { obj.(*appsv1.ReplicaSet).Spec.Replicas = &want },
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
