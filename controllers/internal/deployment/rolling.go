package deployment

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
)

// roll is one step of strategy RollingUpdate: it scales up the current ReplicaSet as far as there is room, or else
// removes old pods while enough are available.
func (u *rollout) roll(ctx context.Context) error {
	if u.current() == nil {
		if err := u.create(ctx); err != nil {
			return err
		}
	}
	moved, err := u.grow(ctx)
	if !moved {
		moved, err = u.shrink(ctx)
	}
	if err != nil {
		return err
	}
	if !moved && complete(u.d, &u.d.Status) {
		if err := u.cleanUp(ctx); err != nil {
			return err
		}
	}
	return u.writeProgress(ctx)
}

// grow scales the current ReplicaSet up as far as there is room, or down to its wanted size.
func (u *rollout) grow(ctx context.Context) (bool, error) {
	rs := u.current()
	if size(rs) >= replicas(u.d) {
		return u.scale(ctx, rs, replicas(u.d))
	}
	return u.scale(ctx, rs, u.room(size(rs)))
}

// room returns how many pods a current ReplicaSet with this many may have.
func (u *rollout) room(have int32) int32 {
	if u.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || u.options.Without.Room {
		return replicas(u.d)
	}
	return have + max(min(most(u.d)-total(u.sets, size), replicas(u.d)-have), 0)
}

// shrink scales old ReplicaSets down, the oldest first; unavailable pods go first.
//
// It leaves enough pods even if every unavailable pod of the current ReplicaSet is missing, so pods that never become
// available keep the old ones. A ReplicaSet with more available pods than it wants is about to lose them; their number
// is known afterwards. Pods of one that wants none do not count, as its status may be old.
func (u *rollout) shrink(ctx context.Context) (bool, error) {
	rs, old := u.current(), keep(u.old(), active)
	if u.options.Without.Least {
		return u.takeFrom(ctx, old, total(old, size), size)
	}
	spare := total(u.sets, size) - least(u.d) - (size(rs) - rs.Status.AvailableReplicas)
	shrinking := func(rs *appsv1.ReplicaSet) bool { return rs.Status.AvailableReplicas > size(rs) }
	if slices.ContainsFunc(old, shrinking) {
		return false, nil
	}
	unhealthy, err := u.takeFrom(ctx, old, spare, func(rs *appsv1.ReplicaSet) int32 {
		return size(rs) - rs.Status.AvailableReplicas
	})
	if err != nil {
		return false, err
	}
	old = keep(u.old(), active)
	available := rs.Status.AvailableReplicas +
		total(old, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas })
	healthy, err := u.takeFrom(ctx, old, available-least(u.d), size)
	return unhealthy || healthy, err
}

// takeFrom scales ReplicaSets down by up to n pods in all, each by up to what it can give.
func (u *rollout) takeFrom(ctx context.Context, sets []*appsv1.ReplicaSet, n int32,
	has func(*appsv1.ReplicaSet) int32) (took bool, err error) {
	for _, rs := range sets {
		if by := min(n, has(rs)); by > 0 {
			if _, err := u.scale(ctx, rs, size(rs)-by); err != nil {
				return took, err
			}
			took, n = true, n-by
		}
	}
	return took, nil
}
