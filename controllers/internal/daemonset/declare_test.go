package daemonset

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
)

// What the laws see: nodes without their one pod, and pods left waiting.
func TestAmiss(t *testing.T) {
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "r"}}
	tainted := nodeNamed("n", corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoExecute})
	for _, c := range []struct {
		name            string
		node            *corev1.Node
		own             []*corev1.Pod
		surge           string
		counts          int32
		amiss, neglects string
	}{
		{"one", nodeNamed("n"), []*corev1.Pod{daemon("a", "n")}, "0", 1, "", ""},
		{"none", nodeNamed("n"), nil, "0", 0, "none on n", ""},
		{"one that goes", nodeNamed("n"), []*corev1.Pod{daemon("a", "n", "going")}, "0", 1, "", ""},
		{"one that has ended", nodeNamed("n"), []*corev1.Pod{daemon("a", "n", "ended")}, "0", 1, "none on n", ""},
		{"counted, and gone", nodeNamed("n"), []*corev1.Pod{daemon("a", "n", "ended", "going")}, "0", 1,
			"pods on 0 nodes, and counts 1 in its status", ""},
		{"counted twice", nodeNamed("n"), []*corev1.Pod{daemon("a", "n")}, "0", 2,
			"pods on 1 nodes, and counts 2 in its status", ""},
		{"counted, and nowhere", nodeNamed("n"), []*corev1.Pod{daemon("a", "")}, "0", 1,
			"pods on 0 nodes, and counts 1 in its status", ""},
		{"two", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n", "new")}, "0", 1,
			"more than one on n", ""},
		{"two while it surges", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n", "new")}, "1", 1, "",
			""},
		{"two of a template", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n")}, "1", 1,
			"more than one on n", ""},
		{"three while it surges", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n", "new"),
			daemon("c", "n", "new")}, "1", 1, "more than one on n", ""},
		{"one that may not stay", tainted, []*corev1.Pod{daemon("a", "n")}, "0", 1, "one on n, which may not stay", ""},
		{"one that waits, and may not stay", tainted, []*corev1.Pod{daemon("a", "n", "waiting")}, "0", 1, "", ""},
		{"waits for a node that is gone", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m", "waiting")},
			"0", 1, "", "one that waits for node m, which is gone"},
		{"is on a node that is gone", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m")}, "0", 1, "",
			""},
		{"waits, and goes", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m", "waiting", "going")},
			"0", 1,
			"", ""},
		{"waited, and has ended", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m", "waiting", "ended")},
			"0", 1, "", ""},
	} {
		set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "log"}}
		set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
		set.Spec.UpdateStrategy, set.Status.CurrentNumberScheduled = rolling(c.surge, "0"), c.counts
		own := []runtime.Object{revision}
		for _, p := range c.own {
			own = append(own, p)
		}
		all := func(string) []runtime.Object { return []runtime.Object{c.node} }
		if got := amiss(set, own, all); got != c.amiss {
			t.Errorf("%s: amiss %q, want %q", c.name, got, c.amiss)
		}
		if got := neglects(set, own, all); got != c.neglects {
			t.Errorf("%s: neglects %q, want %q", c.name, got, c.neglects)
		}
		if set.Spec.Selector = nil; amiss(set, own, all) != "" || neglects(set, own, all) != "" {
			t.Errorf("%s: amiss for a set that is left alone", c.name)
		}
	}
}

// A pod's revision exists: it has the pod's hash, in the same namespace, and is the set's or has the expected name.
func TestLacks(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "log", UID: "me"}}
	there := func(change func(r *appsv1.ControllerRevision)) *appsv1.ControllerRevision {
		r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "log-new",
			Labels: map[string]string{hashLabel: "new"}}}
		change(r)
		return r
	}
	for name, c := range map[string]struct {
		change func(r *appsv1.ControllerRevision)
		lacks  bool
	}{
		"of its name": {func(*appsv1.ControllerRevision) {}, false},
		"the set's": {func(r *appsv1.ControllerRevision) {
			r.Name, r.OwnerReferences = "odd", []metav1.OwnerReference{*metav1.NewControllerRef(set, Kind)}
		}, false},
		"another's": {func(r *appsv1.ControllerRevision) { r.Name = "odd" }, true},
		"elsewhere": {func(r *appsv1.ControllerRevision) { r.Namespace = "b" }, true},
		"going": {func(r *appsv1.ControllerRevision) { r.DeletionTimestamp = &metav1.Time{Time: sim.Epoch} },
			true},
		"another hash": {func(r *appsv1.ControllerRevision) { r.Labels = nil }, true},
	} {
		all := func(string) []runtime.Object { return []runtime.Object{there(c.change)} }
		if got := lacks(set, daemon("p", "n", "new"), all); (got != "") != c.lacks {
			t.Errorf("%s: %q", name, got)
		}
		if lacks(set, there(c.change), all) != "" || lacks(set, &corev1.Pod{}, all) == "" {
			t.Errorf("%s: a revision lacks something, or a pod of no revision nothing", name)
		}
	}
}

// A set with an empty selector, stored by an older server, selects nothing.
func TestAnEmptySelectorSelectsNothing(t *testing.T) {
	set := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{}}}
	if selects(set, map[string]string{"app": "web"}) || selects(set, nil) {
		t.Error("it selects what has labels, or has none")
	}
	set.Spec.Selector.MatchLabels = map[string]string{"app": "web"}
	if !selects(set, map[string]string{"app": "web"}) {
		t.Error("it does not select what it asks for")
	}
}
