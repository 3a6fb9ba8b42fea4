package registry

import (
	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var statefulSets = goType[appsv1.StatefulSet, appsv1.StatefulSetList](&Kind{
	GVK: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Resource: "statefulsets", Singular: "statefulset",
	ShortNames: []string{"sts"}, Categories: []string{"all"},
	Namespaced: true, Status: true, Default: On(defaultStatefulSet),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSLabel,
		PrepareCreate: On(func(s *appsv1.StatefulSet) {
			s.Status, s.Generation = appsv1.StatefulSetStatus{}, 1
			dropMaxUnavailable(s)
		}),
		ValidateCreate: Check(validation.StatefulSet),
		WarnCreate:     Warns(func(s *appsv1.StatefulSet) []string { return validation.WarnStateful(s, true, "") }),
		Main: Update{
			Prepare: Over(func(s, old *appsv1.StatefulSet) {
				s.Status = old.Status
				dropMaxUnavailable(s)
				if !same.Value(&s.Spec, &old.Spec) {
					s.Generation = old.Generation + 1
				}
			}),
			Validate: Compare(validation.StatefulSetUpdate), again: checks{onUpdate}, Keeps: true,
			Warn: func(obj, old runtime.Object) []string {
				s := obj.(*appsv1.StatefulSet)
				return validation.WarnStateful(s, s.Generation != old.(*appsv1.StatefulSet).Generation, "Spec")
			},
		},
		ForStatus: Update{
			Prepare:  Over(func(s, old *appsv1.StatefulSet) { s.Spec = old.Spec }),
			Validate: Compare(validation.StatefulSetStatus), again: checks{onUpdate}, Keeps: true,
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
	if s.Spec.PodManagementPolicy == "" {
		s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	u := &s.Spec.UpdateStrategy
	if u.Type == "" {
		u.Type = appsv1.RollingUpdateStatefulSetStrategyType
		if u.RollingUpdate == nil {
			u.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
		}
	}
	if u.Type == appsv1.RollingUpdateStatefulSetStrategyType && u.RollingUpdate != nil {
		orInt32(&u.RollingUpdate.Partition, 0)
	}
	if s.Spec.PersistentVolumeClaimRetentionPolicy == nil {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	for _, p := range [...]*appsv1.PersistentVolumeClaimRetentionPolicyType{
		&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted,
		&s.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled} {
		if *p == "" {
			*p = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
		}
	}
	orInt32(&s.Spec.Replicas, 1)
	orInt32(&s.Spec.RevisionHistoryLimit, 10)
	defaultPodSpec(&s.Spec.Template.Spec)
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Kind, c.APIVersion = "PersistentVolumeClaim", "v1"
		defaultClaim(c)
	}
}
