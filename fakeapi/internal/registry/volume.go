package registry

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var persistentVolumes = goType[corev1.PersistentVolume, corev1.PersistentVolumeList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("PersistentVolume"),
	Resource: "persistentvolumes", Singular: "persistentvolume", ShortNames: []string{"pv"},
	Status: true, ReturnDeleted: true, Default: On(coredefaults.SetObjectDefaults_PersistentVolume),
	strategy: strategy{
		Admit:  protect("kubernetes.io/pv-protection"),
		Plugin: "StorageObjectInUseProtection",
		PrepareCreate: On(func(v *corev1.PersistentVolume) {
			now := v.CreationTimestamp
			v.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &now}
		}),
		Create: validation.PersistentVolume.Create,
		Main: Update{
			Prepare: Over(func(v, old *corev1.PersistentVolume) { v.Status = old.Status }),
			Judge:   validation.PersistentVolume.Update,
		},
		ForStatus: Update{PrepareAt: preparePhase, Judge: validation.PersistentVolume.Status},
	},
})

// preparePhase notes when a volume came into its phase, unless who writes the
// status says when.
func preparePhase(obj, old runtime.Object, now time.Time) {
	v, was := obj.(*corev1.PersistentVolume), old.(*corev1.PersistentVolume)
	v.Spec = was.Spec
	at, before := v.Status.LastPhaseTransitionTime, was.Status.LastPhaseTransitionTime
	switch {
	case v.Status.Phase == was.Status.Phase && at == nil:
		v.Status.LastPhaseTransitionTime = before
	case v.Status.Phase != was.Status.Phase && (at == nil || at.Equal(before)):
		seconds := metadata.Seconds(now)
		v.Status.LastPhaseTransitionTime = &seconds
	}
}

var podTemplates = goType[corev1.PodTemplate, corev1.PodTemplateList](&Kind{
	GVK: corev1.SchemeGroupVersion.WithKind("PodTemplate"), Resource: "podtemplates", Singular: "podtemplate",
	Namespaced: true, ReturnDeleted: true,
	Default: On(func(t *corev1.PodTemplate) {
		coredefaults.SetObjectDefaults_PodTemplate(t)
		settleTemplate(&t.Template)
	}),
	strategy: strategy{
		PrepareCreate: first,
		Create:        validation.PodTemplate.Create,
		Main: Update{
			Prepare: Recount(func(t *corev1.PodTemplate) any { return t.Template }),
			Judge:   validation.PodTemplate.Update,
		},
	},
})
