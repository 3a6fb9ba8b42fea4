// Package metadata checks, compares and changes the metadata of objects: names, owners and finalizers.
package metadata

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

// Of returns the metadata of an object. For a typed object it is a pointer to its ObjectMeta.
func Of(obj runtime.Object) metav1.Object {
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		return a.GetObjectMeta()
	}
	return obj.(metav1.Object)
}

// Seconds truncates a time to seconds, like the API's encoding.
func Seconds(now time.Time) metav1.Time { return metav1.Time{Time: now.UTC().Truncate(time.Second)} }

// Path is the path of the metadata in errors.
var Path = field.NewPath("metadata")

// WithPolicy returns a copy of the finalizers have. The copy has "orphan" if and only if orphan is set, and
// "foregroundDeletion" if and only if foreground is set.
func WithPolicy(have []string, orphan, foreground bool) []string {
	want := make([]string, 0, len(have)+1)
	for _, f := range have {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			want = append(want, f)
		}
	}
	if orphan {
		want = append(want, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		want = append(want, metav1.FinalizerDeleteDependents)
	}
	return want
}

// DropControllers removes the controller field of every owner reference.
func DropControllers(m metav1.Object) {
	refs := m.GetOwnerReferences()
	if !slices.ContainsFunc(refs, func(r metav1.OwnerReference) bool { return r.Controller != nil }) {
		return
	}
	own := slices.Clone(refs)
	for i := range own {
		own[i].Controller = nil
	}
	m.SetOwnerReferences(own)
}

// DedupOwners drops duplicate owner references. It returns their uids for a warning.
func DedupOwners(m metav1.Object) (twice []string) {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return nil
	}
	kept := make([]metav1.OwnerReference, 0, len(refs))
	for i := range refs {
		if slices.ContainsFunc(kept, func(r metav1.OwnerReference) bool { return sameRef(&r, &refs[i]) }) {
			twice = append(twice, string(refs[i].UID))
		} else {
			kept = append(kept, refs[i])
		}
	}
	if twice != nil {
		m.SetOwnerReferences(kept)
	}
	return twice
}

func sameRef(a, b *metav1.OwnerReference) bool {
	return a.UID == b.UID && a.Name == b.Name && a.Kind == b.Kind && a.APIVersion == b.APIVersion &&
		ptr.Equal(a.Controller, b.Controller) && ptr.Equal(a.BlockOwnerDeletion, b.BlockOwnerDeletion)
}

// Same reports whether the metadata is equal. It ignores resourceVersion and the immutable fields: name, namespace, uid
// and creationTimestamp.
func Same(a, b metav1.Object) bool {
	return a.GetGeneration() == b.GetGeneration() &&
		a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		ptr.Equal(a.GetDeletionGracePeriodSeconds(), b.GetDeletionGracePeriodSeconds()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) && maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		slices.Equal(a.GetFinalizers(), b.GetFinalizers()) &&
		sameRefs(a.GetOwnerReferences(), b.GetOwnerReferences()) &&
		a.GetGenerateName() == b.GetGenerateName() && a.GetSelfLink() == b.GetSelfLink() &&
		(len(a.GetManagedFields()) == 0 && len(b.GetManagedFields()) == 0 ||
			equality.Semantic.DeepEqual(a.GetManagedFields(), b.GetManagedFields()))
}

func sameRefs(a, b []metav1.OwnerReference) bool {
	return slices.EqualFunc(a, b, func(a, b metav1.OwnerReference) bool { return sameRef(&a, &b) })
}

// Sound reports whether the metadata of an update is certainly valid: the owner references are valid, and all other
// changed fields have no rules. If it returns false, validate the metadata completely.
func Sound(m, old metav1.Object) bool {
	return m.GetName() == old.GetName() && m.GetNamespace() == old.GetNamespace() && m.GetUID() == old.GetUID() &&
		m.GetGenerateName() == old.GetGenerateName() && m.GetResourceVersion() != "" &&
		m.GetGeneration() >= old.GetGeneration() && m.GetGeneration() >= 0 &&
		m.GetDeletionTimestamp().Equal(old.GetDeletionTimestamp()) &&
		ptr.Equal(m.GetDeletionGracePeriodSeconds(), old.GetDeletionGracePeriodSeconds()) &&
		len(m.GetManagedFields()) == 0 && slices.Equal(m.GetFinalizers(), old.GetFinalizers()) &&
		maps.Equal(m.GetLabels(), old.GetLabels()) && maps.Equal(m.GetAnnotations(), old.GetAnnotations()) &&
		soundOwners(m.GetOwnerReferences())
}

// SoundNew is [Sound] for the metadata of a new object. It returns true only for names that are valid for all kinds. If
// it returns false, validate the metadata completely.
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

// IsLabel reports whether a string is a DNS label: up to 63 lower-case letters, digits and inner dashes. Such a
// string is also a valid label key and label value.
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

// Plain reports whether an update changes neither annotations nor finalizers. Some kinds have rules for these fields.
func Plain(m, old metav1.Object) bool {
	return maps.Equal(m.GetAnnotations(), old.GetAnnotations()) && slices.Equal(m.GetFinalizers(), old.GetFinalizers())
}

// PathSegment returns the reasons why a name or generateName is not a valid path segment, as all kinds require.
func PathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// StandardFinalizer reports whether f is a finalizer of Kubernetes, such as "orphan". Other finalizers need a domain.
func StandardFinalizer(f string) bool {
	return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents ||
		f == "kubernetes"
}
