package registry

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var statefulSets = goType[appsv1.StatefulSet, appsv1.StatefulSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets", Singular: "statefulset",
	ShortNames: []string{"sts"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultStatefulSet),
	strategy: strategy{
		PrepareCreate: On(func(s *appsv1.StatefulSet) {
			s.Status, s.Generation = appsv1.StatefulSetStatus{}, 1
			dropMaxUnavailable(s)
		}),
		Create: validation.StatefulSet.Create,
		Main: Update{
			Prepare: Over(func(s, old *appsv1.StatefulSet) {
				s.Status = old.Status
				dropMaxUnavailable(s)
				if !same.Value(&s.Spec, &old.Spec) {
					s.Generation = old.Generation + 1
				}
			}),
			Judge: validation.StatefulSet.Update, Keeps: true,
		},
		ForStatus: Update{
			Prepare: Over(func(s, old *appsv1.StatefulSet) { s.Spec = old.Spec }),
			Judge:   validation.StatefulSet.Status, Keeps: true,
		},
		Scale: &Scaling{
			Read: func(obj runtime.Object) (int32, int32, string) {
				s := obj.(*appsv1.StatefulSet)
				return *s.Spec.Replicas, s.Status.Replicas, selectorText(s.Spec.Selector)
			},
			Write: func(obj runtime.Object, want int32) { obj.(*appsv1.StatefulSet).Spec.Replicas = &want },
		},
	},
})

// dropMaxUnavailable: the feature is off by default.
func dropMaxUnavailable(s *appsv1.StatefulSet) {
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		kept := *r
		kept.MaxUnavailable = nil
		s.Spec.UpdateStrategy.RollingUpdate = &kept
	}
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	appsdefaults.SetObjectDefaults_StatefulSet(s)
	settleTemplate(&s.Spec.Template)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
	}
}
