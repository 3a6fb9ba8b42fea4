package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// protect returns the StorageObjectInUseProtection plugin. The plugin adds a finalizer to a new object, so that the
// object stays while it is in use.
func protect(finalizer string) func(obj, old runtime.Object) error {
	return func(obj, old runtime.Object) error {
		if m := metadata.Of(obj); old == nil && !slices.Contains(m.GetFinalizers(), finalizer) {
			m.SetFinalizers(append(m.GetFinalizers(), finalizer))
		}
		return nil
	}
}

var claims = kind[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](corev1.SchemeGroupVersion,
	validation.PersistentVolumeClaim, &Row{
		ReturnDeleted: true, Default: On(coredefaults.SetObjectDefaults_PersistentVolumeClaim),
		Admit: protect("kubernetes.io/pvc-protection"), Plugin: "StorageObjectInUseProtection",
		PrepareCreate: On(func(c *corev1.PersistentVolumeClaim) { settleSource(&c.Spec, nil) }),
		ReadDefault: func(obj runtime.Object) bool {
			obj.(*corev1.PersistentVolumeClaim).Status.Phase = corev1.ClaimPending
			return true
		},
		Main: Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) { settleSource(&c.Spec, &old.Spec) })},
	})

// settleSource makes dataSource and dataSourceRef agree. It drops a dataSource that is not a claim or snapshot, and a
// dataSourceRef with a namespace. It drops neither if the old claim has the same field.
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

var persistentVolumes = kind[corev1.PersistentVolume, corev1.PersistentVolumeList](corev1.SchemeGroupVersion,
	validation.PersistentVolume, &Row{
		ReturnDeleted: true, Default: On(coredefaults.SetObjectDefaults_PersistentVolume),
		Admit: protect("kubernetes.io/pv-protection"), Plugin: "StorageObjectInUseProtection",
		PrepareCreate: On(func(v *corev1.PersistentVolume) {
			now := v.CreationTimestamp
			v.Status.Phase, v.Status.LastPhaseTransitionTime = corev1.VolumePending, &now
		}),
		ForStatus: Update{Prepare: at(preparePhase)},
	})

// preparePhase sets the time of the last change of the phase, unless the client sets it.
func preparePhase(v, was *corev1.PersistentVolume, now metav1.Time) {
	at, before := v.Status.LastPhaseTransitionTime, was.Status.LastPhaseTransitionTime
	switch {
	case v.Status.Phase == was.Status.Phase && at == nil:
		v.Status.LastPhaseTransitionTime = before
	case v.Status.Phase != was.Status.Phase && (at == nil || at.Equal(before)):
		v.Status.LastPhaseTransitionTime = &now
	}
}

var podTemplates = kind[corev1.PodTemplate, corev1.PodTemplateList](corev1.SchemeGroupVersion, validation.PodTemplate,
	&Row{
		Counts: "Template", ReturnDeleted: true, Default: On(func(t *corev1.PodTemplate) {
			coredefaults.SetObjectDefaults_PodTemplate(t)
			settlePodSpec(&t.Template.Spec)
		}),
	})

// Classes, drivers and attachments of volumes are only stored: no component provisions or attaches volumes.

var storageClasses = kind[storagev1.StorageClass, storagev1.StorageClassList](storagev1.SchemeGroupVersion,
	validation.StorageClass, &Row{ReturnDeleted: true, Default: On(storagedefaults.SetObjectDefaults_StorageClass)})

var csiDrivers = kind[storagev1.CSIDriver, storagev1.CSIDriverList](storagev1.SchemeGroupVersion,
	validation.CSIDriver, &Row{
		Counts: "Spec", ReturnDeleted: true, MustVersion: true, Default: On(storagedefaults.SetObjectDefaults_CSIDriver),
		PrepareCreate: On(func(d *storagev1.CSIDriver) {
			d.Generation = 0                           // 0 until the first change of the spec
			d.Spec.PreventPodSchedulingIfMissing = nil // the feature VolumeLimitScaling is off
		}),
		Main: Update{Prepare: Over(func(d, old *storagev1.CSIDriver) {
			if old.Spec.PreventPodSchedulingIfMissing == nil {
				d.Spec.PreventPodSchedulingIfMissing = nil
			}
		})},
	})

var csiNodes = kind[storagev1.CSINode, storagev1.CSINodeList](storagev1.SchemeGroupVersion, validation.CSINode,
	&Row{ReturnDeleted: true, MustVersion: true, Canonicalize: asStored})

var csiCapacities = kind[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](storagev1.SchemeGroupVersion,
	validation.CSIStorageCapacity, &Row{MustVersion: true})

var volumeAttachments = kind[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](storagev1.SchemeGroupVersion,
	validation.VolumeAttachment, &Row{
		ReturnDeleted: true, MustVersion: true, StatusOnly: true,
		Default: On(storagedefaults.SetObjectDefaults_VolumeAttachment),
	})

var volumeAttributesClasses = kind[storagev1.VolumeAttributesClass, storagev1.VolumeAttributesClassList](
	storagev1.SchemeGroupVersion, validation.VolumeAttributesClass, &Row{
		ReturnDeleted: true, Admit: protect("kubernetes.io/vac-protection"), Plugin: "StorageObjectInUseProtection",
	})
