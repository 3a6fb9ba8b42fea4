package deployment

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// count returns the status that follows from the statuses of the Deployment's ReplicaSets (LAW-3). It keeps the
// conditions, and updates whether enough pods are available.
func (u *rollout) count() appsv1.DeploymentStatus {
	sets := u.sets
	if u.options.Without.OwnStatus {
		sets = u.selected(u.d)
	}
	available := total(sets, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas })
	s := appsv1.DeploymentStatus{
		ObservedGeneration: u.d.Generation,
		Replicas:           total(sets, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.Replicas }),
		ReadyReplicas:      total(sets, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.ReadyReplicas }),
		AvailableReplicas:  available,
		// There may be more than wanted, when some are about to be deleted.
		UnavailableReplicas: max(total(sets, size)-available, 0),
		TerminatingReplicas: u.terminating(),
		CollisionCount:      u.d.Status.CollisionCount,
		Conditions:          u.d.Status.Conditions,
	}
	if rs := u.current(); rs != nil {
		s.UpdatedReplicas = rs.Status.Replicas
	}
	if available >= least(u.d) {
		u.say(&s, appsv1.DeploymentAvailable, corev1.ConditionTrue, enoughPods, "Deployment has minimum availability.")
	} else {
		u.say(&s, appsv1.DeploymentAvailable, corev1.ConditionFalse, notEnoughPods,
			"Deployment does not have minimum availability.")
	}
	return s
}

// terminating counts terminating pods; nil if an observed ReplicaSet does not report them.
func (u *rollout) terminating() *int32 {
	if u.options.Era != Current {
		return nil
	}
	sum := int32(0)
	for _, rs := range u.sets {
		switch n := rs.Status.TerminatingReplicas; {
		case n != nil:
			sum += *n
		case rs.Status.ObservedGeneration != 0:
			return nil
		}
	}
	return &sum
}

// writeStatus writes a status if it changed (WRITE-9).
func (u *rollout) writeStatus(ctx context.Context, s appsv1.DeploymentStatus) error {
	before := u.d.Status
	if u.options.Era != Current {
		before.TerminatingReplicas = nil // a field that older programs do not know
	}
	if equality.Semantic.DeepEqual(&before, &s) && !u.options.Without.Unchanged {
		return nil
	}
	u.d.Status = s
	return u.updateStatus(ctx)
}

// updateStatus writes the Deployment's status and annotations. The result replaces the Deployment for the rest of the
// reconcile: its spec is the same, or the write would have conflicted.
func (u *rollout) updateStatus(ctx context.Context) error {
	obj, err := u.env.Client.UpdateStatus(ctx, u.d)
	if err != nil {
		return err
	}
	d := *obj.(*appsv1.Deployment)
	u.d = &d
	return nil
}

// observe only sets the observed generation.
func (u *rollout) observe(ctx context.Context) error {
	if u.d.Status.ObservedGeneration >= u.d.Generation {
		return nil
	}
	u.d.Status.ObservedGeneration = u.d.Generation
	return u.updateStatus(ctx)
}

// complete reports whether every wanted pod belongs to the current ReplicaSet and is available, and no other is left.
func complete(d *appsv1.Deployment, s *appsv1.DeploymentStatus) bool {
	n := replicas(d)
	return s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n &&
		s.ObservedGeneration >= d.Generation
}
