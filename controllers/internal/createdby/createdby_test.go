package createdby

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An annotation that is none, or names nobody, tells of no creator.
func TestCreator(t *testing.T) {
	for text, want := range map[string]bool{
		`{"reference":{"kind":"ReplicaSet","uid":"u"}}`: true,
		`{"reference":{"kind":"ReplicaSet"}}`:           false,
		`{"reference":{"uid":"u","kind":5}}`:            false,
		`{"reference":{"uid":"u"`:                       false,
		``:                                              false,
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{Annotation: text}}}
		if got := Creator(pod); (got != nil) != want {
			t.Errorf("%q was created by %v", text, got)
		}
	}
}
