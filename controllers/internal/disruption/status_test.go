package disruption

import (
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/sim"
)

// A right status is not written again. A status with any wrong field is, because another client may have written it.
func TestUpToDate(t *testing.T) {
	right := func() *policyv1.PodDisruptionBudgetStatus {
		return &policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 2, CurrentHealthy: 3, DesiredHealthy: 1,
			ExpectedPods: 4, DisruptionsAllowed: 2, DisruptedPods: map[string]metav1.Time{"p": {Time: sim.Epoch}},
			Conditions: []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition,
				Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason}}}
	}
	for name, spoil := range map[string]func(s *policyv1.PodDisruptionBudgetStatus){
		"no condition": func(s *policyv1.PodDisruptionBudgetStatus) { s.Conditions = nil },
		"its status":   func(s *policyv1.PodDisruptionBudgetStatus) { s.Conditions[0].Status = metav1.ConditionFalse },
		"its reason": func(s *policyv1.PodDisruptionBudgetStatus) {
			s.Conditions[0].Reason = policyv1.SyncFailedReason
		},
		"currentHealthy":     func(s *policyv1.PodDisruptionBudgetStatus) { s.CurrentHealthy++ },
		"desiredHealthy":     func(s *policyv1.PodDisruptionBudgetStatus) { s.DesiredHealthy++ },
		"expectedPods":       func(s *policyv1.PodDisruptionBudgetStatus) { s.ExpectedPods++ },
		"disruptionsAllowed": func(s *policyv1.PodDisruptionBudgetStatus) { s.DisruptionsAllowed++ },
		"observedGeneration": func(s *policyv1.PodDisruptionBudgetStatus) { s.ObservedGeneration++ },
		"disruptedPods": func(s *policyv1.PodDisruptionBudgetStatus) {
			s.DisruptedPods["p"] = metav1.NewTime(sim.Epoch.Add(time.Second))
		},
	} {
		b := &policyv1.PodDisruptionBudget{Status: *right()}
		if !upToDate(b, right()) {
			t.Fatal("a right status is written again")
		}
		if spoil(&b.Status); upToDate(b, right()) {
			t.Errorf("%s: a wrong status is not written", name)
		}
	}
}

// An unreadable value, stored by another version of the server, is an error rather than a number.
func TestUnreadable(t *testing.T) {
	r := &reconciler{}
	share := intstr.FromString("many")
	budget := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &share}}
	if _, _, err := r.expect(t.Context(), budget, nil); err == nil {
		t.Error("no error for a percentage that cannot be parsed")
	}
	if _, _, err := r.controllerOf(t.Context(), &metav1.OwnerReference{APIVersion: "a/b/c"}, "ns"); err == nil {
		t.Error("no error for an apiVersion that cannot be parsed")
	}
}
