package daemonset

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

var invariants = New(Options{Era: Current}).Contract.Invariants
var oneOnEach, needed, bounds = invariants[0], invariants[1], invariants[2]

// The laws report nodes without exactly one pod, and pods that wait for a missing node.
func TestOneOnEachNode(t *testing.T) {
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "r"}}
	tainted := nodeNamed("n", corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoExecute})
	for _, c := range []struct {
		name             string
		node             *corev1.Node
		own              []*corev1.Pod
		surge            string
		counts           int32
		want, reconciled string // the text of the violation; the text if the set was reconciled since
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
		{"looks wrong: two while it surges", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n", "new")}, "1", 1, "", ""},
		{"two of a template", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n")}, "1", 1,
			"more than one on n", ""},
		{"three while it surges", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "n", "new"),
			daemon("c", "n", "new")}, "1", 1, "more than one on n", ""},
		{"one that may not stay", tainted, []*corev1.Pod{daemon("a", "n")}, "0", 1, "one on n, which may not stay", ""},
		{"one that waits, and may not stay", tainted, []*corev1.Pod{daemon("a", "n", "waiting")}, "0", 1, "", ""},
		{"waits for a node that is gone", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m", "waiting")},
			"0", 1, "", "one that waits for node m, which is gone"},
		{"is on a node that is gone", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m")}, "0", 1, "", ""},
		{"waits, and goes", nodeNamed("n"), []*corev1.Pod{daemon("a", "n"), daemon("b", "m", "waiting", "going")},
			"0", 1, "", ""},
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
		f := law.Facts{Owner: set, Dependents: own, All: all}
		for _, want := range []string{c.want, c.want + c.reconciled} {
			if got := oneOnEach.Check(&f); !strings.Contains(got, want) || (got == "") != (want == "") {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
			f.Reconciled = true
		}
		if set.Spec.Selector = nil; oneOnEach.Check(&f) != "" {
			t.Errorf("%s: a set that is not reconciled is reported", c.name)
		}
	}
}

// A pod's revision is a revision in the same namespace with the pod's hash. It must be controlled by the set, or have
// the expected name.
func TestNeededObjects(t *testing.T) {
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
		"looks wrong: another's of its name": {func(*appsv1.ControllerRevision) {}, false},
		"the set's": {func(r *appsv1.ControllerRevision) {
			r.Name, r.OwnerReferences = "odd", []metav1.OwnerReference{*metav1.NewControllerRef(set, Kind)}
		}, false},
		"another's":    {func(r *appsv1.ControllerRevision) { r.Name = "odd" }, true},
		"elsewhere":    {func(r *appsv1.ControllerRevision) { r.Namespace = "b" }, true},
		"going":        {func(r *appsv1.ControllerRevision) { r.DeletionTimestamp = &metav1.Time{Time: sim.Epoch} }, true},
		"another hash": {func(r *appsv1.ControllerRevision) { r.Labels = nil }, true},
	} {
		all := func(string) []runtime.Object { return []runtime.Object{there(c.change)} }
		lacks := func(o runtime.Object) string { return needed.Check(&law.Facts{Owner: set, After: o, All: all}) }
		if got := lacks(daemon("p", "n", "new")); (got != "") != c.lacks {
			t.Errorf("%s: %q", name, got)
		}
		if lacks(there(c.change)) != "" || lacks(&corev1.Pod{}) == "" {
			t.Errorf("%s: a revision is reported, or a pod without a revision is not", name)
		}
	}
}

// stood returns a pod of a template on a node, available or not.
func stood(node, hash string, available bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{hashLabel: hash}}}
	p.Spec.NodeName = node
	if available {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	return p
}

// TestExceedsBounds has the nodes a to d. Only d should not have a pod.
func TestExceedsBounds(t *testing.T) {
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
		rolling *appsv1.RollingUpdateDaemonSet // nil if the set is updated by hand
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
		{"looks wrong: a third on its node", surging, []runtime.Object{a, stood("a", "new", false), b, c}, nil,
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
		got := bounds.Check(&law.Facts{Owner: set, Dependents: x.others, Before: x.was, After: x.is, All: all})
		if (got == "") != (x.want == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// If a set has no template number, none of its pods counts as failed again.
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
