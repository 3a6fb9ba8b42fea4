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

func pod(name, node string, phase corev1.PodPhase, isReady bool, age time.Duration) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(sim.Epoch.Add(-age))},
		Spec:       corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase},
	}
	if isReady {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

func TestVictims(t *testing.T) {
	ranked := []*corev1.Pod{ // the cheapest first
		pod("z", "", corev1.PodPending, false, 0),
		pod("a", "n", corev1.PodPending, false, 0),
		pod("b", "n", corev1.PodUnknown, false, time.Hour),
		pod("c", "n", corev1.PodRunning, false, time.Hour),
		pod("d", "n", corev1.PodRunning, true, time.Minute),
		pod("e", "n", corev1.PodRunning, true, time.Hour),
		pod("f", "n", corev1.PodRunning, true, time.Hour),
	}
	for n := range len(ranked) + 1 {
		for rotation := range ranked {
			shuffled := append(append([]*corev1.Pod{}, ranked[rotation:]...), ranked[:rotation]...)
			var got, want []string
			for _, p := range victims(shuffled, n) {
				got = append(got, p.Name)
			}
			for _, p := range ranked[:n] {
				want = append(want, p.Name)
			}
			if n < len(ranked) && strings.Join(got, "") != strings.Join(want, "") || len(got) != n {
				t.Errorf("%d of %d, rotated by %d: %v, want %v", n, len(ranked), rotation, got, want)
			}
		}
	}
}

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
	since := func(p *corev1.Pod, ago time.Duration) *corev1.Pod {
		p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(sim.Epoch.Add(-ago))
		return p
	}
	template := &corev1.PodTemplateSpec{}
	template.Labels = map[string]string{"app": "x"}
	labelled := pod("a", "n", corev1.PodPending, false, 0)
	labelled.Labels = map[string]string{"app": "x", "more": "y"}
	pods := []*corev1.Pod{
		labelled,
		pod("b", "n", corev1.PodRunning, true, 0), // does not say since when
		since(pod("c", "n", corev1.PodRunning, true, 0), time.Second),
		since(pod("d", "n", corev1.PodRunning, true, 0), time.Minute),
	}
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
