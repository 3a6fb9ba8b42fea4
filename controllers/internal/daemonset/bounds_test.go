package daemonset

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// stood returns a pod of a template on a node, available or not.
func stood(node, hash string, available bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{hashLabel: hash}}}
	p.Spec.NodeName = node
	if available {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

// TestOversteps: of the nodes a to d, the last should not have a pod.
func TestOversteps(t *testing.T) {
	ends := stood("a", "old", true)
	ends.Status.Phase = corev1.PodFailed
	rolls := func(unavailable, surge intstr.IntOrString) *appsv1.RollingUpdateDaemonSet {
		return &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &unavailable, MaxSurge: &surge}
	}
	n, percent := intstr.FromInt32, intstr.FromString
	one, surging := rolls(n(1), n(0)), rolls(n(0), n(1))
	a, b, c := stood("a", "old", true), stood("b", "old", true), stood("c", "old", true)
	for _, x := range []struct {
		name    string
		rolling *appsv1.RollingUpdateDaemonSet // nil for a set that is updated by hand
		others  []runtime.Object
		was, is runtime.Object
		want    string
	}{
		{"one of three", one, []runtime.Object{b, c}, a, nil, ""},
		{"one more", one, []runtime.Object{stood("b", "new", false), c}, a, nil, "2 nodes unavailable, at most 1"},
		{"one that is missing", one, []runtime.Object{c}, a, nil, "makes 2 nodes unavailable"},
		{"one that is not available", one, []runtime.Object{c}, stood("a", "old", false), nil, ""},
		{"one that has ended", one, []runtime.Object{c}, ends, nil, ""},
		{"one that is on the wrong node", one, []runtime.Object{c}, stood("d", "old", true), nil, ""},
		{"one of two on a node", one, []runtime.Object{stood("a", "old", true), c}, a, nil, ""},
		{"a third, of three", rolls(percent("33%"), n(0)), []runtime.Object{b, c}, a, nil, ""},
		{"half, of three", rolls(percent("50%"), n(0)), []runtime.Object{c}, a, nil, ""},
		{"two thirds and one", rolls(percent("66%"), n(0)), nil, a, nil, "makes 3 nodes unavailable, at most 2"},
		{"none may be unavailable", rolls(n(0), n(0)), []runtime.Object{b, c}, a, nil, ""},
		{"by hand", nil, []runtime.Object{b, c}, a, nil, "replaces none by itself"},
		{"by hand, where there is another", nil, []runtime.Object{stood("a", "old", true)}, a, nil, ""},

		{"the old one before the new is available", surging, []runtime.Object{stood("a", "new", false), b, c}, a, nil,
			"leaves none that is available on a"},
		{"the old one", surging, []runtime.Object{stood("a", "new", true), b, c}, a, nil, ""},
		{"the only one", surging, []runtime.Object{b, c}, a, nil, "leaves none"},
		{"one of two of a kind", surging, []runtime.Object{stood("a", "old", false), b, c}, a, nil, ""},
		{"one beside another", surging, []runtime.Object{a, b, c}, nil, stood("a", "new", false), ""},
		{"a second beside another", surging, []runtime.Object{a, b, stood("b", "new", false)}, nil,
			stood("a", "new", false), "puts two on 2 nodes, at most 1"},
		{"the second when the first is available", surging, []runtime.Object{a, b, stood("b", "new", true)}, nil,
			stood("a", "new", false), ""},
		{"beside one that is not available", surging, []runtime.Object{stood("a", "old", false), b,
			stood("b", "new", false)}, nil, stood("a", "new", false), ""},
		{"a third on its node", surging, []runtime.Object{a, stood("a", "new", false), b, c}, nil,
			stood("a", "new", false), ""},
		{"a second beside another, the newer first", surging, []runtime.Object{a, stood("b", "new", false), b}, nil,
			stood("a", "new", false), "puts two on 2 nodes"},
		{"two of a kind elsewhere", surging, []runtime.Object{a, b, stood("b", "old", false)}, nil,
			stood("a", "new", false), ""},
		{"written beside another", surging, []runtime.Object{a, b, stood("b", "new", false)},
			stood("a", "new", false), stood("a", "new", false), ""},
		{"written", one, nil, a, a, ""},
		{"something else", one, nil, &appsv1.ControllerRevision{}, nil, ""},
	} {
		set := &appsv1.DaemonSet{}
		set.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		if x.rolling != nil {
			set.Spec.UpdateStrategy.Type = appsv1.RollingUpdateDaemonSetStrategyType
			set.Spec.UpdateStrategy.RollingUpdate = x.rolling
		}
		set.Spec.Template.Spec.NodeSelector = map[string]string{"for": "it"}
		var nodes []runtime.Object
		for _, name := range []string{"a", "b", "c", "d"} {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if name != "d" {
				node.Labels = map[string]string{"for": "it"}
			}
			nodes = append(nodes, node)
		}
		all := func(string) []runtime.Object { return nodes }
		got := oversteps(set, x.others, x.was, x.is, time.Time{}, all)
		if (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// If a set has no template number, its pods have no template that could have failed again.
func TestRetries(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	all := func(string) []runtime.Object { return []runtime.Object{node} }
	for _, c := range []struct{ number, label, want string }{{"1", "1", "0 on a"}, {"2", "1", ""}, {"", "", ""}} {
		set, p := &appsv1.DaemonSet{}, stood("a", "new", false)
		p.Status.Phase = corev1.PodFailed
		if c.number != "" {
			set.Annotations = map[string]string{appsv1.DeprecatedTemplateGeneration: c.number}
			p.Labels[generationLabel] = c.label
		}
		if got := New(Options{Era: Current}).Contract.RetryOf(set, p, all); got != c.want {
			t.Errorf("template %q, pod of %q: %q, want %q", c.number, c.label, got, c.want)
		}
	}
}
