package registry

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// protect is the StorageObjectInUseProtection plugin: a finalizer keeps an object while it is in use.
func protect(finalizer string) func(obj, old runtime.Object) error {
	return func(obj, old runtime.Object) error {
		if m := metadata.Of(obj); old == nil && !slices.Contains(m.GetFinalizers(), finalizer) {
			m.SetFinalizers(append(m.GetFinalizers(), finalizer))
		}
		return nil
	}
}

var claims = goType[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	Resource: "persistentvolumeclaims", Singular: "persistentvolumeclaim", ShortNames: []string{"pvc"},
	Namespaced: true, Status: true, ReturnDeleted: true, Default: On(coredefaults.SetObjectDefaults_PersistentVolumeClaim),
	strategy: strategy{
		Admit:  protect("kubernetes.io/pvc-protection"),
		Plugin: "StorageObjectInUseProtection",
		PrepareCreate: On(func(c *corev1.PersistentVolumeClaim) {
			c.Status = corev1.PersistentVolumeClaimStatus{}
			settleSource(&c.Spec, nil)
		}),
		ReadDefault: func(obj runtime.Object) bool {
			obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
			return true
		},
		Create: validation.PersistentVolumeClaim.Create,
		Main: Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) {
			c.Status = old.Status
			settleSource(&c.Spec, &old.Spec)
		}), Judge: validation.PersistentVolumeClaim.Update},
		ForStatus: Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) {
			c.Spec = old.Spec
		}), Judge: validation.PersistentVolumeClaim.Status},
	},
})

// settleSource aligns dataSource and dataSourceRef. dataSource knows only claims and snapshots. Another namespace
// needs a feature gate.
func settleSource(s, old *corev1.PersistentVolumeClaimSpec) {
	if ref := s.DataSourceRef; ref != nil && ref.Namespace != nil && *ref.Namespace != "" &&
		(old == nil || old.DataSourceRef == nil) {
		s.DataSourceRef = nil
	}
	if s.DataSourceRef == nil && (old == nil || old.DataSource == nil && old.DataSourceRef == nil) &&
		!sourceOfOld(s.DataSource) {
		s.DataSource = nil
	}
	switch from, ref := s.DataSource, s.DataSourceRef; {
	case from != nil && ref == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: from.APIGroup, Kind: from.Kind, Name: from.Name}
	case ref != nil && from == nil && (ref.Namespace == nil || *ref.Namespace == ""):
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

func sourceOfOld(ref *corev1.TypedLocalObjectReference) bool {
	if ref == nil {
		return false
	}
	group := ""
	if ref.APIGroup != nil {
		group = *ref.APIGroup
	}
	return ref.Kind == "PersistentVolumeClaim" && group == "" ||
		ref.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io"
}

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

// preparePhase sets the time of the last phase change unless the status write sets it.
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

// Classes, drivers and attachments of volumes: nothing here provisions or attaches.

var storageClasses = goType[storagev1.StorageClass, storagev1.StorageClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("StorageClass"),
	Resource: "storageclasses", Singular: "storageclass", ShortNames: []string{"sc"}, ReturnDeleted: true,
	Default: On(storagedefaults.SetObjectDefaults_StorageClass),
	strategy: strategy{
		Create: validation.StorageClass.Create,
		Main: Update{
			Judge: validation.StorageClass.Update,
		},
	},
})

var csiDrivers = goType[storagev1.CSIDriver, storagev1.CSIDriverList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSIDriver"), Resource: "csidrivers", Singular: "csidriver",
	ReturnDeleted: true, MustVersion: true, Default: On(storagedefaults.SetObjectDefaults_CSIDriver),
	strategy: strategy{
		Create: validation.CSIDriver.Create,
		// The feature is off by default.
		PrepareCreate: On(func(d *storagev1.CSIDriver) { d.Spec.PreventPodSchedulingIfMissing = nil }),
		Main: Update{
			Prepare: both(Over(func(d, old *storagev1.CSIDriver) {
				if old.Spec.PreventPodSchedulingIfMissing == nil {
					d.Spec.PreventPodSchedulingIfMissing = nil
				}
			}), Recount(func(d *storagev1.CSIDriver) any { return d.Spec })),
			Judge: validation.CSIDriver.Update,
		},
	},
})

var csiNodes = goType[storagev1.CSINode, storagev1.CSINodeList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSINode"), Resource: "csinodes", Singular: "csinode",
	ReturnDeleted: true, MustVersion: true,
	strategy: strategy{
		Create:       validation.CSINode.Create,
		Canonicalize: asStored,
		Main:         Update{Judge: validation.CSINode.Update},
	},
})

var csiCapacities = goType[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"),
	Resource: "csistoragecapacities", Singular: "csistoragecapacity", Namespaced: true, MustVersion: true,
	strategy: strategy{
		Create: validation.CSIStorageCapacity.Create,
		Main: Update{
			Judge: validation.CSIStorageCapacity.Update,
		},
	},
})

var volumeAttachments = goType[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"),
	Resource: "volumeattachments", Singular: "volumeattachment",
	Status: true, ReturnDeleted: true, MustVersion: true,
	Default: On(storagedefaults.SetObjectDefaults_VolumeAttachment),
	strategy: strategy{
		PrepareCreate: On(func(a *storagev1.VolumeAttachment) {
			a.Status = storagev1.VolumeAttachmentStatus{}
		}),
		Create: validation.VolumeAttachment.Create,
		Main: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) { a.Status = old.Status }),
			Judge:   validation.VolumeAttachment.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) {
				a.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(a, old)
			}),
			Judge: validation.VolumeAttachment.Update,
		},
		ResetByStatus: wholeMetadata,
	},
})

var volumeAttributesClasses = goType[storagev1.VolumeAttributesClass, storagev1.VolumeAttributesClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttributesClass"),
	Resource: "volumeattributesclasses", Singular: "volumeattributesclass", ShortNames: []string{"vac"},
	ReturnDeleted: true,
	strategy: strategy{
		Admit:  protect("kubernetes.io/vac-protection"),
		Plugin: "StorageObjectInUseProtection",
		Create: validation.VolumeAttributesClass.Create,
		Main: Update{
			Judge: validation.VolumeAttributesClass.Update,
		},
	},
})
