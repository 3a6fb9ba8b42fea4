package table

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
)

// Cells show ages at the time of the world. Cells that show an absolute time do not change. The object does not change.
func TestAgesByAnotherClock(t *testing.T) {
	noon := time.Date(2017, 1, 1, 12, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{RestartCount: 3,
		LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Time{Time: noon.Add(-5 * time.Minute)}}}}}}}
	pod.Name, pod.CreationTimestamp = "p", metav1.Time{Time: noon.Add(-time.Hour)}
	was := pod.DeepCopy()
	kind := fakeapi.New(fakeapi.Options{}).Kind(corev1.SchemeGroupVersion.WithKind("Pod"))
	row, err := printerFor(kind, pod).row(pod, noon)
	if diff := cmp.Diff([]any{"p", "0/0", "", "3 (5m ago)", "60m"}, row.Cells[:5]) + cmp.Diff(was, pod); err != nil || diff != "" {
		t.Errorf("%v (- want, + got)\n%s", err, diff)
	}

	at := "2017-01-01T11:00:00Z"
	custom := custom([]apiextensionsv1.CustomResourceColumnDefinition{
		{Name: "A", Type: "date", JSONPath: ".spec.list[0].at"}, {Name: "B", Type: "string", JSONPath: ".spec.list[0].at"},
		{Name: "C", Type: "date", JSONPath: ".spec.never"}}, &unstructured.Unstructured{})
	row, err = custom.row(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "w"},
		"spec": map[string]any{"list": []any{map[string]any{"at": at}}}}}, noon)
	if diff := cmp.Diff([]any{"w", "60m", at, nil}, row.Cells); err != nil || diff != "" {
		t.Errorf("%v (- want, + got)\n%s", err, diff)
	}
	if row, _ = plain.row(pod, noon); row.Cells[1] != at {
		t.Errorf("created at %v, want %s", row.Cells[1], at)
	}
}
