package createdby

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A malformed or empty annotation names no creator.
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
			t.Errorf("annotation %q: creator %v", text, got)
		}
	}
}

// The annotation is written as in those versions, except for the resourceVersion, and reads back. Other annotations
// stay, and the template's own are not modified.
func TestAnnotate(t *testing.T) {
	creator := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "u"}}
	kind := corev1.SchemeGroupVersion.WithKind("ReplicationController")
	const value = `{"kind":"SerializedReference","apiVersion":"v1","reference":{"kind":"ReplicationController",` +
		`"namespace":"ns","name":"web","uid":"u","apiVersion":"v1"}}`
	template := map[string]string{"note": "1"}
	got := Annotate(template, creator, kind)
	if want := map[string]string{"note": "1", Annotation: value}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(template) != 1 {
		t.Errorf("the template's annotations were changed to %q", template)
	}
	got = Annotate(nil, creator, kind)
	if want := map[string]string{Annotation: value}; !maps.Equal(got, want) {
		t.Errorf("without any before: got %q, want %q", got, want)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: got}}
	want := corev1.ObjectReference{Kind: "ReplicationController", APIVersion: "v1", Namespace: "ns", Name: "web",
		UID: "u"}
	if c := Creator(pod); c == nil || *c != want {
		t.Errorf("creator %v", c)
	}
}
