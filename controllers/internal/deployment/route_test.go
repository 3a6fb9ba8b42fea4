package deployment

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// cached holds the content of the caches, by kind.
type cached map[schema.GroupVersionKind][]runtime.Object

func (c cached) Get(kind schema.GroupVersionKind, namespace, name string) runtime.Object {
	for _, obj := range c[kind] {
		if m := obj.(metav1.Object); m.GetNamespace() == namespace && m.GetName() == name {
			return obj
		}
	}
	return nil
}

func (c cached) Each(kind schema.GroupVersionKind, namespace string, f func(runtime.Object) bool) {
	for _, obj := range c[kind] {
		if obj.(metav1.Object).GetNamespace() == namespace && !f(obj) {
			return
		}
	}
}

// A Deployment with strategy Recreate is enqueued when its last pod is deleted: no other event shows it (RULES B34).
func TestPodGone(t *testing.T) {
	owned := func(m *metav1.ObjectMeta, kind schema.GroupVersionKind, name string, uid types.UID) {
		m.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&metav1.ObjectMeta{Name: name, UID: uid},
			kind)}
	}
	pod := func(set string, uid types.UID) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
		if set != "" {
			owned(&p.ObjectMeta, SetKind, set, uid)
		}
		return p
	}
	for _, c := range []struct {
		name     string
		strategy appsv1.DeploymentStrategyType
		gone     *corev1.Pod
		left     []runtime.Object
		wakes    bool
	}{
		{"its last", appsv1.RecreateDeploymentStrategyType, pod("rs", "rs"), nil, true},
		{"one of several", appsv1.RecreateDeploymentStrategyType, pod("rs", "rs"), []runtime.Object{pod("rs", "rs")},
			false},
		{"beside others", appsv1.RecreateDeploymentStrategyType, pod("rs", "rs"), []runtime.Object{pod("", ""),
			pod("rs", "former"), pod("free", "free"), pod("lost", "lost"), pod("others", "others")}, true},
		{"of strategy RollingUpdate", appsv1.RollingUpdateDeploymentStrategyType, pod("rs", "rs"), nil, false},
		{"nobody's", appsv1.RecreateDeploymentStrategyType, pod("", ""), nil, false},
		{"of an earlier ReplicaSet", appsv1.RecreateDeploymentStrategyType, pod("rs", "former"), nil, false},
		{"of a ReplicaSet that is nobody's", appsv1.RecreateDeploymentStrategyType, pod("free", "free"), nil, false},
		{"of an earlier Deployment", appsv1.RecreateDeploymentStrategyType, pod("lost", "lost"), nil, false},
		{"of one that is gone", appsv1.RecreateDeploymentStrategyType, pod("gone", "gone"), nil, false},
	} {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web"}}
		d.Spec.Strategy.Type = c.strategy
		view := cached{Kind: {d}, podKind: c.left}
		for name, owner := range map[string]types.UID{"rs": "web", "free": "", "lost": "former"} {
			rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
				UID: types.UID(name)}}
			if owner != "" {
				owned(&rs.ObjectMeta, Kind, "web", owner)
			}
			view[SetKind] = append(view[SetKind], rs)
		}
		other := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "other", UID: "other"}}
		others := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "others", UID: "others",
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(other, Kind)}}}
		view[Kind], view[SetKind] = append(view[Kind], other), append(view[SetKind], others)
		var out host.Effect
		for _, r := range routes(&Options{Era: Current}) {
			if r.Kind == podKind {
				r.Do(view, host.Event{Old: c.gone}, &out)
				r.Do(view, host.Event{Old: c.gone, New: c.gone}, &out)
			}
		}
		if slices.Contains(out.Keys, "default/web") != c.wakes || len(out.Keys) > 1 {
			t.Errorf("%s: enqueued %q", c.name, out.Keys)
		}
	}
}

// A change of size is shared among ReplicaSets by their annotations. A saturated ReplicaSet gets all pods.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		name                     string
		wanted, size, before, is int32
		annotation               string
		want                     int32
	}{
		{"in proportion", 8, 3, 4, 0, "4", 3}, {"no annotation", 8, 3, 0, 6, "", 1}, {"an annotation of 0", 8, 3, 0,
			6, "0", 1},
		{"an odd annotation", 8, 3, 0, 6, "99999999999", 1},
		{"nobody knows", 8, 3, 0, 0, "x", 0}, {"to none", 0, 3, 4, 4, "4", -3},
	} {
		rs := setOf("a", "i", c.size, "1")
		rs.Annotations[maxAnnotation] = c.annotation
		u := &rollout{d: &appsv1.Deployment{}}
		u.d.Spec.Replicas, u.d.Status.Replicas = &c.wanted, c.is
		if got := u.fraction(rs); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		desired         string
		size, available int32
		want            bool
	}{
		"all": {"4", 4, 4, true}, "asks for fewer": {"4", 3, 4, false}, "fewer are available": {"4", 4, 3, false},
		"was to have fewer": {"3", 4, 4, false}, "says nothing": {"", 4, 4, false},
	} {
		rs, four := setOf("a", "i", c.size, "1"), int32(4)
		rs.Annotations[desiredAnnotation], rs.Status.AvailableReplicas = c.desired, c.available
		u := &rollout{d: &appsv1.Deployment{}, sets: []*appsv1.ReplicaSet{rs}}
		if u.d.Spec.Replicas = &four; u.saturated() != c.want {
			t.Errorf("%s: saturated: %v", name, !c.want)
		}
	}
	u := &rollout{d: &appsv1.Deployment{}, sets: []*appsv1.ReplicaSet{setOf("a", "i", 0, "1")}}
	if u.d.Spec.Replicas = new(int32); u.saturated() {
		t.Error("with 0 replicas, a ReplicaSet without the annotation counts as saturated")
	}
}

// No Deployment selects a ReplicaSet without labels, even if its selector requires that a label is missing.
func TestSelectsNoneWithoutLabels(t *testing.T) {
	d := &appsv1.Deployment{}
	d.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "odd",
		Operator: metav1.LabelSelectorOpDoesNotExist}}}
	if selects(d, nil) || !selects(d, map[string]string{"app": "x"}) {
		t.Error("a ReplicaSet without labels is selected, or one with labels is not")
	}
}

// The laws report how a scaled ReplicaSet exceeds the bounds of a rollout.
func TestStayWithinBounds(t *testing.T) {
	bounds := New(Options{Era: Current}).Contract.Invariants[0]
	sized := func(name, image string, size, available int32) *appsv1.ReplicaSet {
		rs := setOf(name, image, size, "1")
		rs.Status.AvailableReplicas = available
		return rs
	}
	old := func(n int32) *appsv1.ReplicaSet { return sized("a", "old", n, 3) }
	now := func(n int32) *appsv1.ReplicaSet { return sized("now", "now", n, 1) }
	resized := old(3)
	resized.Annotations[desiredAnnotation] = "3"
	for _, c := range []struct {
		name                 string
		change               func(d *appsv1.Deployment)
		other, before, after *appsv1.ReplicaSet
		want                 string
	}{
		{"grows", nil, old(3), now(1), now(2), ""},
		{"grows too much", nil, old(3), now(1), now(3), "ask for 6 pods"},
		{"stays, and there are too many", nil, old(6), now(1), now(1), ""},
		{"looks wrong: grows too much while paused", func(d *appsv1.Deployment) { d.Spec.Paused = true }, old(3), now(1), now(3), ""},
		{"grows too much, and the size has changed", nil, resized, now(1), now(3), ""},
		{"shrinks", nil, sized("now", "now", 2, 2), old(3), old(1), ""},
		{"shrinks too much", nil, sized("now", "now", 2, 2), old(3), old(0), "leaves 2 available pods"},
		{"shrinks beside one that is about to", nil, sized("b", "older", 0, 3), sized("a", "old", 4, 4),
			sized("a", "old", 2, 4), "leaves 2 available pods"},
		{"shrinks beside a current one that is about to", nil, sized("now", "now", 0, 3), sized("a", "old", 4, 4),
			sized("a", "old", 2, 4), ""},
	} {
		u, _ := rolloutOf(t, c.change)
		u.d.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
		for _, rs := range []*appsv1.ReplicaSet{c.other, c.before, c.after} {
			if rs.Name == "now" {
				rs.Spec.Template = u.d.Spec.Template
			}
		}
		got := bounds.Check(&law.Facts{Owner: u.d, Dependents: []runtime.Object{c.other}, Before: c.before, After: c.after})
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
