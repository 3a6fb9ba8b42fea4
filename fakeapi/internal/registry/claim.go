package registry

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

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
	Namespaced: true, Status: true, ReturnDeleted: true, Default: On(defaultClaim),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		Admit:    protect("kubernetes.io/pvc-protection"),
		PrepareCreate: On(func(c *corev1.PersistentVolumeClaim) {
			c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		}),
		Main: Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) {
			c.Status = old.Status
		}), Validate: Compare(validation.ClaimUpdate), again: checks{onUpdate, onCreate}},
		ForStatus: Update{Prepare: Over(func(c, old *corev1.PersistentVolumeClaim) {
			c.Spec = old.Spec
		}), again: checks{onUpdate}},
	},
})

func defaultClaim(c *corev1.PersistentVolumeClaim) {
	if c.Status.Phase == "" {
		c.Status.Phase = corev1.ClaimPending
	}
	if c.Spec.VolumeMode == nil {
		c.Spec.VolumeMode = &volumeFS
	}
}
