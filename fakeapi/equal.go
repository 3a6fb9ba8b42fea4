package fakeapi

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// unchanged says whether an edit leaves the object as it is stored: then
// nothing is written and the resourceVersion stays.
func (c *call) unchanged(ed *edit, obj runtime.Object, old *entry, m metav1.Object) bool {
	if old.lazy || !sameMeta(m, old.meta) {
		return false
	}
	return ed.onlyMeta || equality.Semantic.DeepEqual(obj, old.obj)
}

// sameMeta compares everything in metadata that a client can change.
func sameMeta(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() &&
		sameTime(a.GetDeletionTimestamp(), b.GetDeletionTimestamp()) &&
		sameInt(a.GetDeletionGracePeriodSeconds(), b.GetDeletionGracePeriodSeconds()) &&
		sameMap(a.GetLabels(), b.GetLabels()) && sameMap(a.GetAnnotations(), b.GetAnnotations()) &&
		sameStrings(a.GetFinalizers(), b.GetFinalizers()) && sameRefs(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		a.GetGenerateName() == b.GetGenerateName() && a.GetSelfLink() == b.GetSelfLink() &&
		(len(a.GetManagedFields()) == 0 && len(b.GetManagedFields()) == 0 ||
			equality.Semantic.DeepEqual(a.GetManagedFields(), b.GetManagedFields()))
}

func sameTime(a, b *metav1.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

func sameInt(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func sameMap(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return true
}

func sameStrings(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
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
