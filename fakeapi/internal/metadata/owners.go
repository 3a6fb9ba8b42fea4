package metadata

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// WithPolicy returns the finalizers with those of a propagation policy in place
// of any other's.
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

// DropControllers forgets the controller field of every owner reference.
func DropControllers(m metav1.Object) {
	refs := m.GetOwnerReferences()
	for i := range refs {
		if refs[i].Controller == nil {
			continue
		}
		own := append([]metav1.OwnerReference(nil), refs...)
		for j := range own {
			own[j].Controller = nil
		}
		m.SetOwnerReferences(own)
		return
	}
}

// DedupOwners drops owner references that say the same as an earlier one. It
// returns the uids of those, for a warning; "" when there are none.
func DedupOwners(m metav1.Object) string {
	refs := m.GetOwnerReferences()
	if len(refs) < 2 {
		return ""
	}
	kept := make([]metav1.OwnerReference, 0, len(refs))
	var twice []byte
	for i := range refs {
		if !containsRef(kept, &refs[i]) {
			kept = append(kept, refs[i])
			continue
		}
		if twice != nil {
			twice = append(twice, ", "...)
		}
		twice = append(twice, refs[i].UID...)
	}
	if twice != nil {
		m.SetOwnerReferences(kept)
	}
	return string(twice)
}

func containsRef(refs []metav1.OwnerReference, ref *metav1.OwnerReference) bool {
	for i := range refs {
		if sameRef(&refs[i], ref) {
			return true
		}
	}
	return false
}
