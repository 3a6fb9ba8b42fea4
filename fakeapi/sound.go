package fakeapi

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// soundMeta says that validating the update's metadata cannot find anything:
// everything that was checked when the old object was stored is as it was, and
// the owner references, which are what most updates change, are plainly good.
// It may say no without reason; then the metadata is validated in full.
func soundMeta(m, old metav1.Object) bool {
	return m.GetName() == old.GetName() && m.GetNamespace() == old.GetNamespace() && m.GetUID() == old.GetUID() &&
		m.GetGenerateName() == old.GetGenerateName() && m.GetResourceVersion() != "" &&
		m.GetGeneration() >= old.GetGeneration() && m.GetGeneration() >= 0 &&
		sameTime(m.GetDeletionTimestamp(), old.GetDeletionTimestamp()) &&
		sameInt(m.GetDeletionGracePeriodSeconds(), old.GetDeletionGracePeriodSeconds()) &&
		len(m.GetManagedFields()) == 0 && sameStrings(m.GetFinalizers(), old.GetFinalizers()) &&
		sameMap(m.GetLabels(), old.GetLabels()) && sameMap(m.GetAnnotations(), old.GetAnnotations()) &&
		soundOwners(m.GetOwnerReferences())
}

func soundOwners(refs []metav1.OwnerReference) bool {
	controllers := 0
	for i := range refs {
		r := &refs[i]
		if r.Kind == "" || r.Name == "" || r.UID == "" || r.Kind == "Event" {
			return false
		}
		if group, version, ok := strings.Cut(r.APIVersion, "/"); ok && (version == "" || strings.Contains(version, "/")) || group == "" {
			return false
		}
		if r.Controller != nil && *r.Controller {
			controllers++
		}
	}
	return controllers < 2
}
