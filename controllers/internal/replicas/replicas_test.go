package replicas

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

func TestMatches(t *testing.T) {
	have := map[string]string{"app": "x", "tier": "web"}
	for _, c := range []struct {
		name     string
		selector *metav1.LabelSelector
		want     bool
	}{
		{"none", nil, false},
		{"empty", &metav1.LabelSelector{}, false},
		{"equal", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, true},
		{"equal, both", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x", "tier": "web"}}, true},
		{"another value", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x", "tier": "db"}}, false},
		{"another label", &metav1.LabelSelector{MatchLabels: map[string]string{"zone": ""}}, false},
		{"expression",
			&metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"w", "x"}}}}, true},
		{"expression against", &metav1.LabelSelector{
			MatchLabels: map[string]string{"app": "x"},
			MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "tier", Operator: metav1.LabelSelectorOpDoesNotExist}},
		}, false},
	} {
		var s Set
		s.SelectBy(c.selector)
		if got := s.Matches(have); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	pods := make([]*corev1.Pod, 4)
	for i := range pods {
		pods[i] = &corev1.Pod{}
		if i > 0 {
			pods[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
	}
	template := &corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"app": "x"}
	pods[0].Labels = map[string]string{"app": "x", "more": "y"}
	// 1 does not say since when it is ready.
	pods[2].Status.Conditions[0].LastTransitionTime = metav1.NewTime(sim.Epoch.Add(-time.Second))
	pods[3].Status.Conditions[0].LastTransitionTime = metav1.NewTime(sim.Epoch.Add(-time.Minute))
	for _, c := range []struct{ minReady, available int32 }{{0, 3}, {1, 2}, {30, 1}, {61, 0}} {
		got := count(&Set{Template: template, MinReadySeconds: c.minReady}, pods, sim.Epoch)
		if got.Replicas != 4 || got.FullyLabeledReplicas != 1 || got.ReadyReplicas != 3 ||
			got.AvailableReplicas != c.available {
			t.Errorf("minReadySeconds %d: %+v", c.minReady, got)
		}
	}
}

func TestReplicaFailure(t *testing.T) {
	failing := appsv1.ReplicaSetStatus{
		Conditions: []appsv1.ReplicaSetCondition{{Type: "Other"},
			{Type: appsv1.ReplicaSetReplicaFailure, Reason: "FailedCreate"}}}
	err := errTest{}
	for _, c := range []struct {
		name string
		set  Set
		have int
		err  error
		want string
	}{
		{"no failure", Set{}, 0, nil, ""},
		{"fails to create", Set{Replicas: 2}, 1, err, "ReplicaFailure:FailedCreate"},
		{"fails to delete", Set{Replicas: 2}, 3, err, "ReplicaFailure:FailedDelete"},
		{"fails still", Set{Status: failing}, 3, err, "Other: ReplicaFailure:FailedCreate"},
		{"recovered", Set{Status: failing}, 3, nil, "Other:"},
	} {
		var got []string
		for _, cond := range replicaFailure(&c.set, c.have, c.err, sim.Epoch) {
			got = append(got, string(cond.Type)+":"+cond.Reason)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

type errTest struct{}

func (errTest) Error() string { return "refused" }
