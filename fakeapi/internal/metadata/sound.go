package metadata

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// Sound says that validating the update's metadata cannot find anything:
// everything that was checked when the old object was stored is as it was, and
// the owner references, which are what most updates change, are plainly good.
// It may say no without reason; then the metadata is validated in full.
func Sound(m, old metav1.Object) bool {
	return m.GetName() == old.GetName() && m.GetNamespace() == old.GetNamespace() && m.GetUID() == old.GetUID() &&
		m.GetGenerateName() == old.GetGenerateName() && m.GetResourceVersion() != "" &&
		m.GetGeneration() >= old.GetGeneration() && m.GetGeneration() >= 0 &&
		same.Time(m.GetDeletionTimestamp(), old.GetDeletionTimestamp()) &&
		same.Pointer(m.GetDeletionGracePeriodSeconds(), old.GetDeletionGracePeriodSeconds()) &&
		len(m.GetManagedFields()) == 0 && slices.Equal(m.GetFinalizers(), old.GetFinalizers()) &&
		maps.Equal(m.GetLabels(), old.GetLabels()) && maps.Equal(m.GetAnnotations(), old.GetAnnotations()) &&
		soundOwners(m.GetOwnerReferences())
}

// SoundNew says that validating a new object's metadata cannot find anything,
// whatever the kind's rule for names: its name is a DNS label and the rest is
// plainly good or not there. It may say no without reason.
func SoundNew(m metav1.Object, namespaced bool) bool {
	if namespaced != (m.GetNamespace() != "") || namespaced && !IsLabel(m.GetNamespace()) || !IsLabel(m.GetName()) {
		return false
	}
	if prefix := m.GetGenerateName(); prefix != "" && !IsLabel(strings.TrimSuffix(prefix, "-")) {
		return false
	}
	return m.GetGeneration() >= 0 && len(m.GetAnnotations()) == 0 && len(m.GetFinalizers()) == 0 &&
		len(m.GetManagedFields()) == 0 && soundLabels(m.GetLabels()) && soundOwners(m.GetOwnerReferences())
}

func soundLabels(labels map[string]string) bool {
	for key, value := range labels { //detcheck:ordered all have to be sound
		if !IsLabel(key) || value != "" && !IsLabel(value) {
			return false
		}
	}
	return true
}

// IsLabel says whether a name is a DNS label: at most 63 lower case letters, digits
// and, between them, dashes. Such a name is a DNS label, a label's key and a label's value.
func IsLabel(s string) bool {
	if len(s) == 0 || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return true
}

func soundOwners(refs []metav1.OwnerReference) bool {
	controllers := 0
	for i := range refs {
		r := &refs[i]
		if r.Kind == "" || r.Name == "" || r.UID == "" || r.Kind == "Event" {
			return false
		}
		if group, version, ok := strings.Cut(r.APIVersion, "/"); ok &&
			(version == "" || strings.Contains(version, "/")) || group == "" {
			return false
		}
		if r.Controller != nil && *r.Controller {
			controllers++
		}
	}
	return controllers < 2
}

// Plain says that no kind has rules about what an update changes in the metadata beyond the
// common ones: these are about annotations and finalizers.
func Plain(m, old metav1.Object) bool {
	return maps.Equal(m.GetAnnotations(), old.GetAnnotations()) && slices.Equal(m.GetFinalizers(), old.GetFinalizers())
}
