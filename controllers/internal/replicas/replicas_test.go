package replicas

import (
	"fmt"
	"maps"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim/host"
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
		{"expression that nobody can read", &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Resembles"}}}, false},
	} {
		var s Set
		s.SelectBy(c.selector)
		if got := s.Matches(have); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A deletion cost is a whole number in its usual form; any other text counts as none.
func TestCost(t *testing.T) {
	for value, want := range map[string]int32{"0": 0, "7": 7, "-7": -7, "10": 10, "": 0, "x": 0, "+7": 0, "07": 0,
		"00": 0, "0x7": 0, "-07": -7, "2147483647": 1<<31 - 1, "2147483648": 0, "7.5": 0} {
		p := &corev1.Pod{}
		p.Annotations = map[string]string{corev1.PodDeletionCost: value}
		if got := cost(p); got != want {
			t.Errorf("%q costs %d, want %d", value, got, want)
		}
	}
}

// A status is written if any of its numbers or conditions differs.
func TestSame(t *testing.T) {
	zero, one := int32(0), int32(1)
	for name, change := range map[string]func(s *appsv1.ReplicaSetStatus){
		"replicas":                func(s *appsv1.ReplicaSetStatus) { s.Replicas++ },
		"fullyLabeledReplicas":    func(s *appsv1.ReplicaSetStatus) { s.FullyLabeledReplicas++ },
		"readyReplicas":           func(s *appsv1.ReplicaSetStatus) { s.ReadyReplicas++ },
		"availableReplicas":       func(s *appsv1.ReplicaSetStatus) { s.AvailableReplicas++ },
		"observedGeneration":      func(s *appsv1.ReplicaSetStatus) { s.ObservedGeneration++ },
		"conditions":              func(s *appsv1.ReplicaSetStatus) { s.Conditions = make([]appsv1.ReplicaSetCondition, 1) },
		"terminatingReplicas":     func(s *appsv1.ReplicaSetStatus) { s.TerminatingReplicas = &one },
		"no terminatingReplicas":  func(s *appsv1.ReplicaSetStatus) { s.TerminatingReplicas = nil },
		"nothing":                 func(*appsv1.ReplicaSetStatus) {},
		"another zero of its own": func(s *appsv1.ReplicaSetStatus) { s.TerminatingReplicas = new(int32) },
	} {
		a, b := appsv1.ReplicaSetStatus{TerminatingReplicas: &zero}, appsv1.ReplicaSetStatus{TerminatingReplicas: &zero}
		change(&b)
		want := name == "nothing" || name == "another zero of its own"
		if same(&a, &b) != want || same(&b, &a) != want {
			t.Errorf("%s: same is not %v", name, want)
		}
	}
	if !same(&appsv1.ReplicaSetStatus{}, &appsv1.ReplicaSetStatus{}) {
		t.Error("two statuses without terminating pods differ")
	}
}

// The neighbours of a set's pods are the pods of all sets with the same controller. A pod that two sets select counts
// once (RULES E57).
func TestNeighbours(t *testing.T) {
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	r := &reconciler{sets: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		pods: cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace),
		kind: &Traits{Read: func(obj runtime.Object) Set {
			rs := obj.(*appsv1.ReplicaSet)
			s := Set{ObjectMeta: &rs.ObjectMeta}
			s.SelectBy(rs.Spec.Selector)
			return s
		}}}
	add := func(c cache.Indexer, obj any) {
		if err := c.Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	set := func(name, parent, app string) *Set {
		rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		rs.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
		if parent != "" {
			yes := true
			rs.OwnerReferences = []metav1.OwnerReference{{UID: types.UID(parent), Controller: &yes}}
		}
		add(r.sets, rs)
		s := r.kind.Read(rs)
		return &s
	}
	web := set("web-1", "web", "x")
	set("web-2", "web", "y")
	set("web-3", "web", "y")
	set("db-1", "db", "z")
	alone := set("alone", "", "w")
	for i, app := range []string{"x", "x", "y", "z", "w", "v"} {
		for _, node := range []string{"n0", "n1"} {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint(node, i),
				Labels: map[string]string{"app": app}}, Spec: corev1.PodSpec{NodeName: node}}
			if i == 0 && node == "n1" {
				p.Status.Phase = corev1.PodFailed
			}
			add(r.pods, p)
		}
	}
	if near := r.neighbours(web); !maps.Equal(near, map[string]int{"n0": 3, "n1": 2}) {
		t.Errorf("neighbours of %s: %v", web.Name, near)
	}
	r.env = &host.Env{Now: func() time.Time { return time.Time{} }}
	of := func(node string) *corev1.Pod { return &corev1.Pod{Spec: corev1.PodSpec{NodeName: node}} }
	if order := r.cheaper(web)(of("n0"), of("n1")); order >= 0 {
		t.Errorf("a pod on the crowded node is not deleted first: %d", order)
	}
	if near := r.neighbours(alone); len(near) > 0 {
		t.Errorf("a set without a controller has neighbours: %v", near)
	}
}
