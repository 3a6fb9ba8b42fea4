package registry

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// The kinds here are those that admission looks up for what an object leaves open.

var priorityClasses = goType[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](&Kind{
	GVK:      schedulingv1.SchemeGroupVersion.WithKind("PriorityClass"),
	Resource: "priorityclasses", Singular: "priorityclass", ShortNames: []string{"pc"},
	Default: On(func(c *schedulingv1.PriorityClass) {
		if c.PreemptionPolicy == nil {
			lower := corev1.PreemptLowerPriority
			c.PreemptionPolicy = &lower
		}
	}),
	strategy: strategy{
		NameRule:       apivalidation.NameIsDNSSubdomain,
		PrepareCreate:  On(func(c *schedulingv1.PriorityClass) { c.Generation = 1 }),
		ValidateCreate: Check(validation.PriorityClass),
		Main:           Update{Validate: Compare(validation.PriorityClassUpdate), again: checks{onUpdate}},
	},
})

var storageClasses = goType[storagev1.StorageClass, storagev1.StorageClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("StorageClass"),
	Resource: "storageclasses", Singular: "storageclass", ShortNames: []string{"sc"}, ReturnDeleted: true,
	Default: On(func(c *storagev1.StorageClass) {
		if c.ReclaimPolicy == nil {
			reclaim := corev1.PersistentVolumeReclaimDelete
			c.ReclaimPolicy = &reclaim
		}
		if c.VolumeBindingMode == nil {
			immediate := storagev1.VolumeBindingImmediate
			c.VolumeBindingMode = &immediate
		}
	}),
	strategy: strategy{NameRule: apivalidation.NameIsDNSSubdomain,
		ValidateCreate: Check(validation.StorageClass),
		Main:           Update{Validate: Compare(validation.StorageClassUpdate), again: checks{onCreate, onUpdate}}},
})

var volumes = goType[corev1.PersistentVolume, corev1.PersistentVolumeList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("PersistentVolume"), Resource: "persistentvolumes",
	Singular: "persistentvolume", ShortNames: []string{"pv"}, Status: true, ReturnDeleted: true,
	Default: On(defaultPersistentVolume),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(v *corev1.PersistentVolume) {
			since := v.CreationTimestamp
			v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &since}
		}),
		Main: Update{Prepare: Over(func(v, old *corev1.PersistentVolume) {
			v.Status = old.Status
		}), again: checks{onCreate, onUpdate}},
		ForStatus: Update{Prepare: Over(func(v, old *corev1.PersistentVolume) {
			v.Spec = old.Spec
			if v.Status.LastPhaseTransitionTime == nil {
				v.Status.LastPhaseTransitionTime = old.Status.LastPhaseTransitionTime
			}
		}), again: checks{onUpdate}},
		SelectableKeys: []string{"name"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["name"] = obj.(*corev1.PersistentVolume).Name
		},
	},
})

func defaultPersistentVolume(v *corev1.PersistentVolume) {
	if v.Status.Phase == "" {
		v.Status.Phase = corev1.VolumePending
	}
	if v.Spec.PersistentVolumeReclaimPolicy == "" {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}
	if v.Spec.VolumeMode == nil {
		v.Spec.VolumeMode = &volumeFS
	}
	if path := v.Spec.HostPath; path != nil && path.Type == nil {
		unset := corev1.HostPathUnset
		path.Type = &unset
	}
}
