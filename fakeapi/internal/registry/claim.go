package registry

import (
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var claims = goType[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](&Kind{
	GVK:      corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
	Resource: "persistentvolumeclaims", Singular: "persistentvolumeclaim", ShortNames: []string{"pvc"},
	Namespaced: true, Status: true, ReturnDeleted: true, Default: On(defaultClaim),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
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
