package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
		"of one that initialises": {initialised,
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

func TestEnough(t *testing.T) {
	number := func(n int32) *int32 { return &n }
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		rule batchv1.SuccessPolicyRule
		have string
		met  bool
	}{
		{batchv1.SuccessPolicyRule{SucceededCount: number(2)}, "4", false},
		{batchv1.SuccessPolicyRule{SucceededCount: number(2)}, "1,4", true},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0,2")}, "0,1", false},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0,2")}, "0-2", true},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0-3"), SucceededCount: number(2)}, "0,4", false},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("0-3"), SucceededCount: number(2)}, "0,3,4", true},
		{batchv1.SuccessPolicyRule{SucceededIndexes: text("x")}, "0-4", false},
	} {
		rules := []batchv1.SuccessPolicyRule{{SucceededCount: number(99)}, c.rule}
		j := &batchv1.Job{Spec: batchv1.JobSpec{Completions: number(5),
			SuccessPolicy: &batchv1.SuccessPolicy{Rules: rules}}}
		got := enough(j, parseIntervals(c.have, 5))
		if (got == "Matched rules at index 1") != c.met || got != "" && !c.met {
			t.Errorf("%v with %s: %q", c.rule, c.have, got)
		}
	}
}
