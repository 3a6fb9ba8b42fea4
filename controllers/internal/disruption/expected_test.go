package disruption

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// An unreadable value, stored by another version of the server, is an error rather than a number.
func TestUnreadable(t *testing.T) {
	r := &reconciler{}
	share := intstr.FromString("many")
	budget := &policyv1.PodDisruptionBudget{Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &share}}
	if _, _, err := r.expect(t.Context(), budget, nil); err == nil {
		t.Error("a share that is none")
	}
	if _, _, err := r.controllerOf(t.Context(), &metav1.OwnerReference{APIVersion: "a/b/c"}, "ns"); err == nil {
		t.Error("an apiVersion that is none")
	}
}
