package job

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var start = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int) metav1.Time {
	return metav1.NewTime(start.Add(time.Duration(seconds) * time.Second))
}

// exited returns a pod whose containers ended at these seconds. A negative number means that the container still runs.
func exited(seconds ...int) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(0)}}
	for _, n := range seconds {
		s := corev1.ContainerStatus{}
		if n >= 0 {
			s.State.Terminated = &corev1.ContainerStateTerminated{FinishedAt: at(n)}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
	return p
}

func TestEndedAt(t *testing.T) {
	unready := exited(-1)
	unready.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: at(7)}}
	deleted, grace, when := exited(3, -1), int64(30), at(39)
	deleted.DeletionTimestamp, deleted.DeletionGracePeriodSeconds = &when, &grace
	always := corev1.ContainerRestartPolicyAlways
	beside := exited(5)
	never := corev1.ContainerRestartPolicyNever
	beside.Spec.InitContainers = []corev1.Container{{Name: "log", RestartPolicy: &always}, {Name: "once"},
		{Name: "never", RestartPolicy: &never}}
	beside.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "log", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: at(8)}}},
		{Name: "once"}, {Name: "never"}}
	unsaid, besideUnsaid := exited(4, 6), exited(4)
	unsaid.Status.ContainerStatuses[1].State.Terminated.FinishedAt = metav1.Time{}
	besideUnsaid.Spec = beside.Spec
	besideUnsaid.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "log",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want int
	}{
		"its last container": {exited(4, 6, 5), 6}, "not ready any more": {unready, 7}, "deleted": {deleted, 9},
		"nothing is known": {exited(), 0}, "the sidecar": {beside, 8},
		"one has no end time": {unsaid, 0}, "the sidecar has no end time": {besideUnsaid, 0},
	} {
		if got, want := endedAt(c.pod), at(c.want).Time; !got.Equal(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestBackoff(t *testing.T) {
	none := backoff{}
	twice := none.after(nil, []*corev1.Pod{exited(2), exited(1)})
	for _, c := range []struct {
		name     string
		b        backoff
		failures int
		wait     time.Duration // the remaining time at second 5
	}{
		{"nothing failed", none, 0, 0},
		{"one failed", none.after(nil, []*corev1.Pod{exited(2)}), 1, 7 * time.Second},
		{"two failed", twice, 2, 17 * time.Second},
		{"and nothing since", twice.after(nil, nil), 2, 17 * time.Second},
		{"and another", twice.after(nil, []*corev1.Pod{exited(4)}), 3, 39 * time.Second},
		{"and one succeeded", twice.after([]*corev1.Pod{exited(3)}, nil), 0, 0},
		{"and one failed after that", twice.after([]*corev1.Pod{exited(3)}, []*corev1.Pod{exited(4), exited(2)}), 1,
			9 * time.Second},
		{"many", backoff{failures: 40, last: start}, 40, maxBackoff - 5*time.Second},
		{"long ago", backoff{failures: 1, last: start.Add(-time.Hour)}, 1, 0},
	} {
		if c.b.failures != c.failures || c.b.remaining(at(5).Time) != c.wait {
			t.Errorf("%s: %d failures, %v to wait; want %d, %v", c.name, c.b.failures, c.b.remaining(at(5).Time),
				c.failures, c.wait)
		}
	}
}

func exitCode(container string, code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}}
}

func TestJudge(t *testing.T) {
	main := "main"
	rules := []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}},
		{Action: batchv1.PodFailurePolicyActionFailJob,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: &main,
				Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}},
		{Action: batchv1.PodFailurePolicyActionCount,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
				Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: []int32{1, 2}}},
	}
	j := &batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: rules}}}
	disrupted := corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}
	of := func(s ...corev1.ContainerStatus) corev1.PodStatus { return corev1.PodStatus{ContainerStatuses: s} }
	initialised := corev1.PodStatus{InitContainerStatuses: of(exitCode("main", 42)).ContainerStatuses}
	for name, c := range map[string]struct {
		status  corev1.PodStatus
		action  batchv1.PodFailurePolicyAction
		message string
		counts  bool
	}{
		"disrupted": {status: disrupted, action: batchv1.PodFailurePolicyActionIgnore},
		"the exit code": {of(exitCode("side", 1), exitCode("main", 42)), batchv1.PodFailurePolicyActionFailJob,
			"Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1", true},
		"of another container":  {of(exitCode("side", 42)), batchv1.PodFailurePolicyActionCount, "", true},
		"none of these":         {of(exitCode("main", 2)), "", "", true},
		"success is no failure": {of(exitCode("main", 0)), "", "", true},
		"of an init container": {initialised,
			batchv1.PodFailurePolicyActionFailJob,
			"Container main for pod ns/p failed with exit code 42 matching FailJob rule at index 1", true},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}, Status: c.status}
		if v := judge(j, p); v.action != c.action || v.message != c.message || v.counts() != c.counts {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := judge(&batchv1.Job{}, &corev1.Pod{Status: disrupted}); v.action != "" || !v.counts() {
		t.Errorf("without a policy: %+v", v)
	}
}
