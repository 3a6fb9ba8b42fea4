package metadata

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// sameRef says whether two references are equal in every field.
func sameRef(a, b *metav1.OwnerReference) bool {
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion &&
		same.Pointer(a.Controller, b.Controller) && same.Pointer(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// Same compares everything in metadata that a client can change.
func Same(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() &&
		same.Time(a.GetDeletionTimestamp(), b.GetDeletionTimestamp()) &&
		same.Pointer(a.GetDeletionGracePeriodSeconds(), b.GetDeletionGracePeriodSeconds()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) &&
		sameRefs(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		a.GetGenerateName() == b.GetGenerateName() && a.GetSelfLink() == b.GetSelfLink() &&
		(len(a.GetManagedFields()) == 0 && len(b.GetManagedFields()) == 0 ||
			equality.Semantic.DeepEqual(a.GetManagedFields(), b.GetManagedFields()))
}

func sameRefs(a, b []metav1.OwnerReference) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameRef(&a[i], &b[i]) {
			return false
		}
	}
	return true
}
