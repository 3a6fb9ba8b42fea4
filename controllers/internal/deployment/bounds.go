package deployment

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// oversteps describes how scaling, creating or deleting a ReplicaSet exceeds the bounds of a rollout (EXACT-11).
// Resizing the Deployment, and a paused Deployment, are not rollouts: the difference is then shared.
func oversteps(owner runtime.Object, others []runtime.Object, before, after runtime.Object, _ time.Time,
	_ func(kind string) []runtime.Object) string {
	if after == nil {
		if rs := before.(*appsv1.ReplicaSet); size(rs) > 0 || rs.Status.Replicas > 0 {
			return "deleted while it has pods"
		}
		return ""
	}
	d, rs := owner.(*appsv1.Deployment), after.(*appsv1.ReplicaSet)
	was := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: new(int32)}}
	if before != nil {
		was = before.(*appsv1.ReplicaSet)
	}
	sets := make([]*appsv1.ReplicaSet, len(others))
	for i, obj := range others {
		sets[i] = obj.(*appsv1.ReplicaSet)
	}
	all := rollout{d: d, sets: append(sets[:len(sets):len(sets)], was)}
	if d.Spec.Paused || all.resized() {
		return ""
	}
	if size(rs) > size(was) {
		return exceeds(d, sets, rs)
	}
	return deprives(d, sets, was, rs)
}

// exceeds reports that a growing ReplicaSet causes too many pods, or, with strategy Recreate, that others still have
// pods.
func exceeds(d *appsv1.Deployment, others []*appsv1.ReplicaSet, rs *appsv1.ReplicaSet) string {
	if n := total(others, size) + size(rs); n > most(d) {
		return fmt.Sprintf("its ReplicaSets ask for %d pods, at most %d are allowed", n, most(d))
	}
	held := func(rs *appsv1.ReplicaSet) int32 { return rs.Status.Replicas }
	if n := total(others, held); n > 0 && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return fmt.Sprintf("grows while others have %d pods, which are to go first", n)
	}
	return ""
}

// deprives reports that a shrinking ReplicaSet loses available pods although too few are left. One of the current
// template that is already shrinking counts its existing pods.
func deprives(d *appsv1.Deployment, others []*appsv1.ReplicaSet, was, rs *appsv1.ReplicaSet) string {
	have := was.Status.AvailableReplicas
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType ||
		min(size(rs), have) == min(size(was), have) {
		return ""
	}
	left := min(size(rs), have) + total(others, func(rs *appsv1.ReplicaSet) int32 {
		if template.Same(&rs.Spec.Template, &d.Spec.Template) {
			return rs.Status.AvailableReplicas
		}
		return min(size(rs), rs.Status.AvailableReplicas)
	})
	if left >= least(d) {
		return ""
	}
	return fmt.Sprintf("leaves %d available pods, at least %d there have to be", left, least(d))
}
