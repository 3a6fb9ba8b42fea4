package daemonset

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func rolling(surge, unavailable string) appsv1.DaemonSetUpdateStrategy {
	s, u := intstr.Parse(surge), intstr.Parse(unavailable)
	return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxSurge: &s, MaxUnavailable: &u}}
}

// Limits are percentages of the nodes, rounded up. If both are zero, one pod may be unavailable.
func TestLimits(t *testing.T) {
	onDelete := rolling("2", "0")
	onDelete.Type = appsv1.OnDeleteDaemonSetStrategyType
	without := rolling("0", "2")
	without.RollingUpdate.MaxSurge = nil
	for _, c := range []struct {
		strategy           appsv1.DaemonSetUpdateStrategy
		nodes              int
		surge, unavailable int
		fails              string
	}{
		{rolling("0", "1"), 3, 0, 1, ""}, {rolling("50%", "0"), 3, 2, 0, ""}, {rolling("0", "50%"), 3, 0, 2, ""},
		{rolling("0", "0"), 3, 0, 1, ""}, {rolling("0", "0"), 0, 0, 0, ""}, {rolling("1", "1"), 3, 1, 1, ""},
		{rolling("x", "0"), 3, 0, 0, "MaxSurge"}, {rolling("0", "x"), 3, 0, 0, "MaxUnavailable"}, {without, 3, 0, 2, ""},
		{onDelete, 3, 0, 1, ""}, {onDelete, 0, 0, 0, ""},
		{appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType}, 3, 0, 1, ""},
	} {
		set := &appsv1.DaemonSet{}
		set.Spec.UpdateStrategy = c.strategy
		surge, unavailable, err := limits(set, c.nodes)
		if surge != c.surge || unavailable != c.unavailable || (err == nil) != (c.fails == "") ||
			err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%v of %d nodes: %d, %d, %v", c.strategy, c.nodes, surge, unavailable, err)
		}
		if surges(set) != (c.surge > 0) {
			t.Errorf("%v: surges is %v", c.strategy, !(c.surge > 0))
		}
	}
	w, _ := syncOf(t, Current)
	if w.set.Spec.UpdateStrategy = rolling("x", "x"); w.roll(t.Context()) == nil {
		t.Error("no error for a strategy that cannot be parsed")
	}
}

func nodeNamed(name string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: taints}}
}

// pairs counts a node that should have a pod and has none, and a node with too many pods.
func TestPairs(t *testing.T) {
	w, _ := syncOf(t, Current)
	w.nodes = []*corev1.Node{nodeNamed("n0"), nodeNamed("n1"), nodeNamed("n2"),
		nodeNamed("n3", corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule})}
	w.pods = []*corev1.Pod{daemon("a", "n1"), daemon("b", "n1", "new"), daemon("c", "n2"), daemon("d", "n2"),
		daemon("e", "n2", "new"), daemon("f", "n0", "going")}
	pairs, wanted := w.pairs()
	if wanted != 3 {
		t.Errorf("%d nodes should have a pod", wanted)
	}
	var got []string
	for _, p := range pairs {
		says := p.node
		for _, p := range []*corev1.Pod{p.old, p.fresh} {
			if p != nil {
				says += " " + p.Name
			}
		}
		if p.more {
			says += " more"
		}
		got = append(got, says)
	}
	if want := []string{"n0", "n1 a b", "n2 d e more"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func pairOf(node string, old, fresh *corev1.Pod) pair {
	return pair{node: node, old: old, fresh: fresh}
}

// Unavailable outdated pods are deleted at once, and other outdated pods while enough pods are available.
func TestReplaceable(t *testing.T) {
	w, _ := syncOf(t, Current)
	good, bad, fresh := daemon("good", "n", "ready"), daemon("bad", "n"), daemon("fresh", "n", "new", "ready")
	young := daemon("young", "n", "new")
	for _, c := range []struct {
		name  string
		pairs []pair
		most  int
		want  []string
	}{
		{"as many as may be", []pair{pairOf("a", good, nil), pairOf("b", good, nil), pairOf("c", nil, fresh)}, 1,
			[]string{"good"}},
		{"none has a pod", []pair{pairOf("a", good, nil), pairOf("b", nil, nil)}, 1, nil},
		{"one has both", []pair{pairOf("a", good, nil), pairOf("b", good, fresh)}, 1, nil},
		{"one has more", []pair{pairOf("a", good, nil), {node: "b", old: good, more: true}}, 1, nil},
		{"a new one is not available", []pair{pairOf("a", good, nil), pairOf("b", nil, young)}, 1, nil},
		{"what is not available", []pair{pairOf("a", good, nil), pairOf("b", bad, nil), pairOf("c", bad, nil)}, 1,
			[]string{"bad", "bad"}},
		{"beside what is not available", []pair{pairOf("a", good, nil), pairOf("b", bad, nil)}, 2,
			[]string{"bad", "good"}},
	} {
		if got := namesOf(w.replaceable(c.pairs, c.most)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A new pod is created beside an old one up to the limit, or if the old one is unavailable. The old pod is deleted when
// the new one is available.
func TestSurge(t *testing.T) {
	w, _ := syncOf(t, Current)
	w.nodes = []*corev1.Node{nodeNamed("a"), nodeNamed("b"), nodeNamed("c"),
		nodeNamed("out", corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoSchedule})}
	good, bad, fresh := daemon("good", "n", "ready"), daemon("bad", "n"), daemon("fresh", "n", "new", "ready")
	young := daemon("young", "n", "new")
	for _, c := range []struct {
		name         string
		pairs        []pair
		wanted, most int
		nodes, drops []string
		fails        bool
	}{
		{"as many as may be", []pair{pairOf("a", good, nil), pairOf("b", good, nil)}, 2, 1, []string{"a"}, nil, false},
		{"one is there twice", []pair{pairOf("a", good, nil), pairOf("b", good, young)}, 2, 1, nil, nil, false},
		{"one is there more often", []pair{pairOf("a", good, nil), {node: "b", old: good, more: true}}, 2, 1, nil, nil,
			false},
		{"one has been replaced", []pair{pairOf("a", good, nil), pairOf("b", good, fresh)}, 2, 1, []string{"a"},
			[]string{"good"}, false},
		{"what does not serve", []pair{pairOf("a", bad, nil), pairOf("b", bad, nil), pairOf("c", nil, fresh)}, 3, 1,
			[]string{"a", "b"}, nil, false},
		{"what does not serve first", []pair{pairOf("a", good, nil), pairOf("b", bad, nil)}, 2, 1, []string{"b", "a"},
			nil, false},
		{"out of place, and does not serve", []pair{pairOf("out", bad, nil)}, 0, 1, nil, []string{"bad"}, false},
		{"out of place, and enough serve", []pair{pairOf("out", good, nil), pairOf("a", nil, fresh)}, 1, 1, nil,
			[]string{"good"}, false},
		{"out of place, and others are missing", []pair{pairOf("out", good, nil), pairOf("a", nil, young)}, 1, 1, nil,
			nil, false},
		{"out of place, and more is there", []pair{pairOf("out", good, nil), pairOf("a", nil, fresh),
			{node: "b", old: good, more: true}}, 2, 1, nil, nil, false},
		{"a node is gone", []pair{pairOf("gone", good, nil)}, 0, 1, nil, nil, true},
	} {
		nodes, drops, err := w.surge(c.pairs, c.wanted, c.most)
		if got := namesOf(drops); !slices.Equal(nodes, c.nodes) || !slices.Equal(got, c.drops) ||
			(err != nil) != c.fails {
			t.Errorf("%s: new pods on %q, deleted %q, error %v; want %q and %q", c.name, nodes, got, err, c.nodes, c.drops)
		}
	}
}
