package fakeapi

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// withPolicy returns the finalizers with those of a propagation policy in place
// of any other's.
func withPolicy(have []string, orphan, foreground bool) []string {
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
