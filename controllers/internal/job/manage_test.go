package job

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A Job with unseen writes does not end, whatever has succeeded. Failed deletions are reported, and so is the end of
// the Job.
func TestCarryOn(t *testing.T) {
	a, user := attemptOf(t, func(j *batchv1.Job) { *j.Spec.Completions, *j.Spec.Parallelism = 1, 1 },
		aPod("done", phase(corev1.PodSucceeded)), aPod("works"), aPod("too"))
	a.awake, a.running, a.active = true, 2, a.pods[1:]
	a.r.env.Client = refused{Client: user, delete: errRefused}
	a.succeeded = 0
	if changed, err := a.carryOn(t.Context()); err == nil || changed || a.end != nil {
		t.Errorf("surplus pods cannot be deleted: %v, %v, %v", changed, err, a.end)
	}
	a.r.env.Client, a.awake = user, false
	if _, err := a.carryOn(t.Context()); err != nil || len(left(t, user)) != 3 {
		t.Errorf("with unseen writes it leaves %q: %v", left(t, user), err)
	}
	a.running, a.succeeded, a.awake = 0, 1, false
	if _, err := a.carryOn(t.Context()); err != nil || a.end != nil {
		t.Errorf("with unseen writes it ends: %v, %v", err, a.end)
	}
	if a.awake = true; a.job.Spec.Completions != nil {
		changed, err := a.carryOn(t.Context())
		if err != nil || a.end == nil || a.end.Reason != batchv1.JobReasonCompletionsReached || changed {
			t.Errorf("after success: changed %v, error %v, end %v", changed, err, a.end)
		}
	}
}

// A Job that ends deletes its running pods. A terminating Job does not (ADOPT-3).
func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		going bool
		want  []string
	}{"it ends": {false, nil}, "it is terminating": {true, []string{"p"}}} {
		a, user := attemptOf(t, nil, aPod("p"))
		if a.awake, a.active = true, a.pods; c.going {
			a.job.DeletionTimestamp = &metav1.Time{Time: start}
		}
		if err := a.stop(t.Context()); err != nil || !slices.Equal(left(t, user), c.want) {
			t.Errorf("%s: %q are left, %v", name, left(t, user), err)
		}
	}
}

// A Job without completions ends when no pod runs; failed creations are reported.
func TestManageOld(t *testing.T) {
	for name, c := range map[string]struct {
		running, succeeded int32
		ends               bool
	}{"one has succeeded, and one runs": {1, 1, false}, "one has succeeded": {0, 1, true},
		"none has succeeded": {0, 0, false}} {
		a, _ := attemptOf(t, func(j *batchv1.Job) { j.Spec.Completions, *j.Spec.Parallelism = nil, 1 })
		a.r.options.Era, a.running, a.succeeded = ControllerRef, c.running, c.succeeded
		if err := a.manageOld(t.Context()); err != nil || finished(a.job) != c.ends {
			t.Errorf("%s: %v, %v", name, a.job.Status.Conditions, err)
		}
	}
	a, user := attemptOf(t, func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.StartTime = some(int64(1)), &metav1.Time{Time: start}
	}, aPod("p"))
	a.r.options.Era, a.active, a.running = ControllerRef, a.pods, 1
	a.r.env.Now = func() time.Time { return start.Add(time.Hour) }
	a.r.env.Client = refused{Client: user, delete: errRefused}
	if err := a.manageOld(t.Context()); err == nil || !finished(a.job) {
		t.Errorf("deletion failed after the deadline: conditions %v, error %v", a.job.Status.Conditions, err)
	}
}

// A pod that replaces another pod of its index holds the index's number of counted failures and, separately, of ignored
// failures.
func TestForIndex(t *testing.T) {
	for name, c := range map[string]struct {
		counted, ignored string
		code             int32
		want             [2]string
	}{
		"the first":                 {"", "", 1, [2]string{"1", ""}},
		"one more":                  {"2", "1", 1, [2]string{"3", "1"}},
		"one that is ignored":       {"2", "1", 42, [2]string{"2", "2"}},
		"the first that is ignored": {"", "", 42, [2]string{"0", "1"}},
	} {
		old := aPod("old", phase(corev1.PodFailed), annotate(batchv1.JobIndexFailureCountAnnotation, c.counted),
			annotate(batchv1.JobIndexIgnoredFailureCountAnnotation, c.ignored))
		old.Status.ContainerStatuses = []corev1.ContainerStatus{exitCode("c", c.code)}
		a := &attempt{job: &batchv1.Job{}, awaiting: map[int]*corev1.Pod{1: old}}
		a.job.Spec.BackoffLimitPerIndex = some(int32(9))
		a.job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      batchv1.PodFailurePolicyActionIgnore,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In", Values: []int32{42}}}}}
		made := a.forIndex(&corev1.Pod{}, 1).Annotations
		if got := [2]string{made[batchv1.JobIndexFailureCountAnnotation],
			made[batchv1.JobIndexIgnoredFailureCountAnnotation]}; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The podFailurePolicy fails a Job because of a failed pod, but not because of one that succeeded while terminating.
func TestWhyFailed(t *testing.T) {
	a, _ := attemptOf(t, func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionFailJob,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: "Lost", Status: "True"}}}}}
	}, aPod("p"))
	a.pods[0].Status.Conditions = []corev1.PodCondition{{Type: "Lost", Status: corev1.ConditionTrue}}
	if reason, message := a.whyFailed(start); reason != "" {
		t.Errorf("a running pod fails its Job: %s", message)
	}
	a.pods[0].Status.Phase = corev1.PodFailed
	if reason, _ := a.whyFailed(start); reason != batchv1.JobReasonPodFailurePolicy {
		t.Errorf("a failed pod does not fail its Job: %q", reason)
	}
	now := metav1.Time{Time: start}
	p := aPod("p", phase(corev1.PodSucceeded))
	if p.DeletionTimestamp = &now; failed(p, &batchv1.Job{}) {
		t.Error("a terminating pod that succeeded counts as failed")
	}
}

// If the cache does not show a pod, its deletion is not expected any more. Earlier eras did not check the cache.
func TestAwake(t *testing.T) {
	for g, awake := range map[Era]bool{Current: true, ControllerRef: false} {
		a, _ := attemptOf(t, nil, aPod("p"))
		a.r.options.Era = g
		a.r.expected.ExpectDeletions(a.key, a.r.owner(a.job), []string{"default/gone"})
		if got := a.r.awake(a.key, a.job); got != awake {
			t.Errorf("%s: awake: %v", g, got)
		}
	}
}

// A failed pod may be removed unless it holds its index's failure count. Pods in the status are not reported again.
func TestMayGo(t *testing.T) {
	a, _ := attemptOf(t, func(j *batchv1.Job) {
		j.Spec.CompletionMode = some(batchv1.IndexedCompletion)
	}, aPod("p", phase(corev1.PodFailed), annotate(indexKey, "0")), aPod("q", phase(corev1.PodFailed),
		annotate(indexKey, "0")))
	a.awaiting = map[int]*corev1.Pod{0: a.pods[1]}
	if !a.mayGo(a.pods[0]) || a.mayGo(a.pods[1]) {
		t.Errorf("may go: the former pod %v, the last pod %v", a.mayGo(a.pods[0]), a.mayGo(a.pods[1]))
	}
	known := map[types.UID]bool{a.pods[0].UID: true}
	got := a.uncountedPods(known, func(*corev1.Pod) bool { return true })
	if len(got) != 1 || got[0] != a.pods[1] {
		t.Errorf("%d pods are uncounted, want only the second", len(got))
	}
}

// Before ControllerRef the key identified a Job's expectations. Since then the uid identifies them, so a recreated Job
// does not wait for the expectations of the old one.
func TestOwnerOfExpectations(t *testing.T) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "u"}}
	for g, want := range map[Era]types.UID{Selector: "", Gated: "", ControllerRef: "u", Current: "u"} {
		if got := (&reconciler{options: &Options{Era: g}}).owner(j); got != want {
			t.Errorf("%s: %q, want %q", g, got, want)
		}
	}
}
