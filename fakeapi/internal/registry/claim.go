package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// protect is what the StorageObjectInUseProtection plugin does: a finalizer keeps a
// new object until it is not in use any more.
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

// settleSource makes one thing of the old and the new way to name what a claim is
// filled from. The old way knows claims and snapshots alone, and the new one no
// other namespace, as that is behind a gate.
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
