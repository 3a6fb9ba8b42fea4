package metadata

import (
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
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

// SoundNew says that validating a new object's metadata cannot find anything:
// its names keep the kind's rule and the rest is plainly good or not there. It
// may say no without reason.
func SoundNew(m metav1.Object, namespaced bool, rule apivalidation.ValidateNameFunc) bool {
	if namespaced != (m.GetNamespace() != "") || namespaced && !plainName(m.GetNamespace()) {
		return false
	}
	if m.GetName() == "" || len(rule(m.GetName(), false)) > 0 ||
		m.GetGenerateName() != "" && len(rule(m.GetGenerateName(), true)) > 0 {
		return false
	}
	return m.GetGeneration() >= 0 && len(m.GetAnnotations()) == 0 && len(m.GetFinalizers()) == 0 &&
		len(m.GetManagedFields()) == 0 && soundLabels(m.GetLabels()) && soundOwners(m.GetOwnerReferences())
}

func soundLabels(labels map[string]string) bool {
	for key, value := range labels { //detcheck:ordered all have to be sound
		if !plainName(key) || value != "" && !plainName(value) {
			return false
		}
	}
	return true
}

// plainName: at most 63 lower case letters, digits and, between them, dashes.
// It is a DNS label, a label's key and a label's value.
func plainName(s string) bool {
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
