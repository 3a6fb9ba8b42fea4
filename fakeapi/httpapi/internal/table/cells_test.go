package table

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func terminated(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
}

func containersOf(n int) []corev1.Container { return make([]corev1.Container, n) }

func TestPodCells(t *testing.T) {
	type statuses = []corev1.ContainerStatus
	ago := func(d time.Duration) metav1.Time { return metav1.Time{Time: noon.Add(-d)} }
	always := corev1.ContainerRestartPolicyAlways
	yes, gone := true, ago(0)
	running := corev1.ContainerStatus{
		Name: "c", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	}
	crashed := corev1.ContainerStatus{
		RestartCount: 3,
		State:        corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: ago(5 * time.Minute)},
		},
	}
	for _, c := range []struct {
		name   string
		spec   corev1.PodSpec
		status corev1.PodStatus
		gone   *metav1.Time
		want   []any // the cells ready, status and restarts
	}{
		{"new", corev1.PodSpec{Containers: containersOf(2)},
			corev1.PodStatus{Phase: corev1.PodPending}, nil, []any{"0/2", "Pending", "0"}},
		{"running", corev1.PodSpec{Containers: containersOf(1)},
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: statuses{running}}, nil,
			[]any{"1/1", "Running", "0"}},
		{"deleted", corev1.PodSpec{},
			corev1.PodStatus{Phase: corev1.PodRunning}, &gone, []any{"0/0", "Terminating", "0"}},
		{"deleted when it had ended", corev1.PodSpec{},
			corev1.PodStatus{Phase: corev1.PodSucceeded}, &gone, []any{"0/0", "Succeeded", "0"}},
		{"its node is lost", corev1.PodSpec{},
			corev1.PodStatus{Phase: corev1.PodRunning, Reason: "NodeLost"}, &gone, []any{"0/0", "Unknown", "0"}},
		{"restarted", corev1.PodSpec{Containers: containersOf(1)},
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: statuses{crashed}}, nil,
			[]any{"0/1", "CrashLoopBackOff", "3 (5m ago)"}},
		{"initialising", corev1.PodSpec{InitContainers: containersOf(2), Containers: containersOf(1)},
			corev1.PodStatus{Phase: corev1.PodPending,
				InitContainerStatuses: statuses{{State: terminated(0, "Completed")}, {}}}, nil,
			[]any{"0/1", "Init:1/2", "0"}},
		{"failed to initialise", corev1.PodSpec{InitContainers: containersOf(1)},
			corev1.PodStatus{Phase: corev1.PodFailed,
				InitContainerStatuses: statuses{{State: terminated(7, "")}}}, nil,
			[]any{"0/0", "Init:ExitCode:7", "0"}},
		{"beside a sidecar", corev1.PodSpec{InitContainers: []corev1.Container{{Name: "s", RestartPolicy: &always}},
			Containers: containersOf(1)},
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: statuses{running},
				InitContainerStatuses: statuses{{Name: "s", Started: &yes, Ready: true, RestartCount: 1}}}, nil,
			[]any{"2/2", "Running", "1"}},
		{"one of two failed", corev1.PodSpec{Containers: containersOf(2)},
			corev1.PodStatus{Phase: corev1.PodFailed,
				ContainerStatuses: statuses{{State: terminated(0, "Completed")}, {State: terminated(1, "Error")}}}, nil,
			[]any{"0/2", "Error", "0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &corev1.Pod{Spec: c.spec, Status: c.status}
			p.Name, p.DeletionTimestamp = "p", c.gone
			if diff := cmp.Diff(c.want, podCells(p, noon)[1:4]); diff != "" {
				t.Errorf("- want, + got\n%s", diff)
			}
		})
	}
}

func TestJobCells(t *testing.T) {
	start, end, two := metav1.Time{Time: noon.Add(-time.Hour)}, metav1.Time{Time: noon.Add(-time.Minute)}, int32(2)
	j := &batchv1.Job{Spec: batchv1.JobSpec{Parallelism: &two}, Status: batchv1.JobStatus{StartTime: &start}}
	if diff := cmp.Diff([]any{"Running", "0/1 of 2", "60m"}, jobCells(j, noon)[1:4]); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	j.Spec.Completions, j.Status.CompletionTime, j.Status.Succeeded = &two, &end, 2
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	if diff := cmp.Diff([]any{"Complete", "2/2", "59m"}, jobCells(j, noon)[1:4]); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
}

// Columns are recorded for every served kind. An empty object has a cell for each column.
func TestPrintersFill(t *testing.T) {
	unused := map[string]bool{}
	for resource := range columns() {
		unused[resource] = true
	}
	for _, k := range fakeapi.New(fakeapi.Options{}).Served() {
		resource := "apis/" + k.GVK.Group
		if k.GVK.Group == "" {
			resource = "api"
		}
		resource += "/" + k.GVK.Version + "/" + k.Resource
		delete(unused, resource)
		p := printerFor(k)
		if want := columns()[resource]; want == nil || !reflect.DeepEqual(p.columns, want) {
			t.Errorf("%s has columns %v, the real server has %v", resource, p.columns, want)
		}
		want := len(p.columns)
		if k.Resource == "ipaddresses" { // one cell more, as on the real server
			want++
		}
		obj := reflect.New(reflect.TypeOf(k.New()).Elem()).Interface().(runtime.Object)
		if cells := p.cells(obj, noon); len(cells) != want {
			t.Errorf("%s has %d cells for %d columns", resource, len(cells), len(p.columns))
		}
	}
	for resource := range unused {
		t.Errorf("columns are recorded for %s, which is not served", resource)
	}
}
