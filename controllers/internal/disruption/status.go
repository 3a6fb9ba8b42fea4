package disruption

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// patience is how long a Pod whose eviction was allowed counts as disrupted.
const patience = 2 * time.Minute

// stillAwaited returns the Pods whose eviction was allowed but that are not terminating yet. After patience they count
// as staying. It returns when the first of them does.
func stillAwaited(budget *policyv1.PodDisruptionBudget, pods []*corev1.Pod,
	now time.Time) (map[string]metav1.Time, time.Duration) {
	awaited := map[string]metav1.Time{}
	var first time.Duration
	for _, pod := range pods {
		at := budget.Status.DisruptedPods[pod.Name]
		left := at.Add(patience).Sub(now)
		if pod.DeletionTimestamp != nil || left < 0 {
			continue
		}
		awaited[pod.Name] = at
		if first == 0 || left < first {
			first = max(left, 1) // at that exact moment it is requeued at once
		}
	}
	return awaited, first
}

// countHealthy counts the Pods that are ready and not disrupted.
func countHealthy(pods []*corev1.Pod, awaited map[string]metav1.Time, now time.Time) (n int32) {
	for _, pod := range pods {
		going := awaited[pod.Name]
		if pod.DeletionTimestamp != nil || going.Add(patience).After(now) {
			continue
		}
		if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			n++
		}
	}
	return n
}

// upToDate reports whether a budget's status and condition are right.
func upToDate(budget *policyv1.PodDisruptionBudget, want *policyv1.PodDisruptionBudgetStatus) bool {
	have := &budget.Status
	c := meta.FindStatusCondition(have.Conditions, policyv1.DisruptionAllowedCondition)
	if c == nil {
		return false
	}
	status, reason := metav1.ConditionFalse, policyv1.InsufficientPodsReason
	if want.DisruptionsAllowed > 0 {
		status, reason = metav1.ConditionTrue, policyv1.SufficientPodsReason
	}
	return c.Status == status && c.Reason == reason &&
		have.CurrentHealthy == want.CurrentHealthy && have.DesiredHealthy == want.DesiredHealthy &&
		have.ExpectedPods == want.ExpectedPods && have.DisruptionsAllowed == want.DisruptionsAllowed &&
		have.ObservedGeneration == want.ObservedGeneration &&
		maps.EqualFunc(have.DisruptedPods, want.DisruptedPods, func(a, b metav1.Time) bool { return a.Equal(&b) })
}

// setCondition sets the condition that says whether evictions are allowed. An unchanged condition keeps its time.
func setCondition(budget *policyv1.PodDisruptionBudget, status metav1.ConditionStatus, reason, message string,
	now time.Time) {
	conditions := slices.Clone(budget.Status.Conditions)
	meta.SetStatusCondition(&conditions, metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: status, Reason: reason, Message: message,
		ObservedGeneration: budget.Status.ObservedGeneration, LastTransitionTime: metav1.NewTime(now),
	})
	budget.Status.Conditions = conditions
}
