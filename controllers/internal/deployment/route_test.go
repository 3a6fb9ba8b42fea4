package deployment

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// cached holds what caches show, by kind.
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

// A Deployment of strategy Recreate waits for its last pod to be deleted; no other event tells it (RULES B34).
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
			t.Errorf("%s: it wakes %q", c.name, out.Keys)
		}
	}
}
