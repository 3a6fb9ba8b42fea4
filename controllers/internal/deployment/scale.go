package deployment

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
)

// sizes are the annotations by which a ReplicaSet tells for which size of its
// Deployment it was scaled.
func sizes(d *appsv1.Deployment) map[string]string {
	return map[string]string{
		desiredAnnotation: strconv.Itoa(int(replicas(d))), maxAnnotation: strconv.Itoa(int(most(d)))}
}

// scale makes a ReplicaSet ask for another number of pods, and reports whether it did
// not already.
func (u *rollout) scale(ctx context.Context, rs *appsv1.ReplicaSet, n int32) (bool, error) {
	if size(rs) == n {
		return false, nil
	}
	return true, u.rescale(ctx, rs, n)
}

// rescale notes besides for which size of the Deployment that is, though the number
// stays the same.
func (u *rollout) rescale(ctx context.Context, rs *appsv1.ReplicaSet, n int32) error {
	changed := *rs
	changed.Annotations, changed.Spec.Replicas = with(rs.Annotations, sizes(u.d)), &n
	if size(rs) == n && maps.Equal(changed.Annotations, rs.Annotations) {
		return nil
	}
	return u.update(ctx, &changed)
}

// resized reports whether the Deployment's size is another than the one that a
// ReplicaSet with pods was last scaled for: a change of size is not a rollout.
func (u *rollout) resized() bool {
	return slices.ContainsFunc(u.sets, func(rs *appsv1.ReplicaSet) bool {
		n, ok := number(rs, desiredAnnotation)
		return active(rs) && ok && n != replicas(u.d)
	})
}

// number is a number in an annotation; not ok for one that is none, or negative.
func number(rs *appsv1.ReplicaSet, annotation string) (n int32, ok bool) {
	v, err := strconv.ParseUint(rs.Annotations[annotation], 10, 31)
	return int32(v), err == nil
}

// resize scales the ReplicaSets there are with the Deployment, and makes no new one:
// it is paused, or its size has changed.
func (u *rollout) resize(ctx context.Context) error {
	if err := u.share(ctx); err != nil {
		return err
	}
	if _, back := rollbackTo(u.d); u.d.Spec.Paused && !back {
		if err := u.cleanUp(ctx); err != nil {
			return err
		}
	}
	return u.writeStatus(ctx, u.count())
}

// share gives the Deployment's size to the one ReplicaSet that has pods, or the newest
// if none has. If the current one has all the pods that are needed, the others get
// none: one of them may just have been adopted. Otherwise a rollout is under way, and
// what there is to give or to take is shared in proportion.
func (u *rollout) share(ctx context.Context) error {
	running := keep(u.sets, active)
	if rs := u.only(running); rs != nil || len(running) == 0 {
		if rs == nil {
			return nil
		}
		_, err := u.scale(ctx, rs, replicas(u.d))
		return err
	}
	if u.saturated() {
		for _, rs := range keep(u.old(), active) {
			if _, err := u.scale(ctx, rs, 0); err != nil {
				return err
			}
		}
		return nil
	}
	if u.d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return nil
	}
	return u.shareAmong(ctx, running)
}

// only is the ReplicaSet that gets all: nil where several have pods, or there is none.
func (u *rollout) only(running []*appsv1.ReplicaSet) *appsv1.ReplicaSet {
	switch rs, old := u.current(), u.old(); {
	case len(running) > 1:
		return nil
	case len(running) == 1:
		return running[0]
	case rs == nil && len(old) > 0:
		return old[len(old)-1]
	default:
		return rs
	}
}

// saturated: Deployment and current ReplicaSet agree that it has all the pods that are
// asked for, and they are available.
func (u *rollout) saturated() bool {
	rs, n := u.current(), replicas(u.d)
	if rs == nil {
		return false
	}
	desired, err := strconv.Atoi(rs.Annotations[desiredAnnotation])
	return err == nil && int32(desired) == n && size(rs) == n && rs.Status.AvailableReplicas == n
}

// shareAmong scales ReplicaSets that have pods so that there are as many as there may
// be, each by its part, the larger ones first: of two alike the newer one gets more,
// and the older one loses more. What rounding leaves over is the first one's.
func (u *rollout) shareAmong(ctx context.Context, running []*appsv1.ReplicaSet) error {
	allowed := int32(0)
	if replicas(u.d) > 0 {
		allowed = most(u.d)
	}
	change := allowed - total(running, size)
	slices.SortFunc(running, func(a, b *appsv1.ReplicaSet) int {
		switch {
		case size(a) != size(b):
			return int(size(b)) - int(size(a))
		case change > 0:
			return older(b, a)
		}
		return older(a, b)
	})
	to, changed := make([]int32, len(running)), int32(0)
	for i, rs := range running {
		part := u.part(rs, change, changed)
		to[i] = size(rs) + part
		changed += part
	}
	if change != 0 {
		to[0] = max(to[0]+change-changed, 0)
	}
	for i, rs := range running {
		if err := u.rescale(ctx, rs, to[i]); err != nil {
			return err
		}
	}
	return nil
}

// part is what a ReplicaSet gets or loses of a change, some of which others have: its
// size keeps its proportion to the most pods that there could be before and can be
// now.
func (u *rollout) part(rs *appsv1.ReplicaSet, change, changed int32) int32 {
	left := change - changed
	switch {
	case left == 0:
		return 0
	case change > 0:
		return min(u.fraction(rs), left)
	}
	return max(u.fraction(rs), left)
}

func (u *rollout) fraction(rs *appsv1.ReplicaSet) int32 {
	if replicas(u.d) == 0 {
		return -size(rs)
	}
	before, ok := number(rs, maxAnnotation)
	if !ok || before == 0 {
		if before = u.d.Status.Replicas; before == 0 { // somebody has tampered with the annotation
			return 0
		}
	}
	return int32(math.Round(float64(size(rs)*most(u.d))/float64(before))) - size(rs)
}
