package deployment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/template"
	"github.com/threelaws/threelaws/sim/law"
)

// sizes returns the annotations of ReplicaSets that store the Deployment's size, without and with the surge.
func sizes(d *appsv1.Deployment) map[string]string {
	return map[string]string{
		desiredAnnotation: strconv.Itoa(int(replicas(d))), maxAnnotation: strconv.Itoa(int(most(d)))}
}

// scale sets the size of a ReplicaSet, and reports whether it changed.
func (u *rollout) scale(ctx context.Context, rs *appsv1.ReplicaSet, n int32) (bool, error) {
	if size(rs) == n {
		return false, nil
	}
	return true, u.rescale(ctx, rs, n)
}

// rescale sets the size and the annotations with the Deployment's size, even if only the annotations change.
func (u *rollout) rescale(ctx context.Context, rs *appsv1.ReplicaSet, n int32) error {
	changed := *rs
	changed.Annotations, changed.Spec.Replicas = with(rs.Annotations, sizes(u.d)), &n
	if size(rs) == n && maps.Equal(changed.Annotations, rs.Annotations) {
		return nil
	}
	return u.update(ctx, &changed)
}

// resized reports whether the Deployment's size has changed since one of its ReplicaSets with pods was scaled. A change
// of the size alone is not a rollout.
func (u *rollout) resized() bool {
	return slices.ContainsFunc(u.sets, func(rs *appsv1.ReplicaSet) bool {
		n, ok := number(rs, desiredAnnotation)
		return active(rs) && ok && n != replicas(u.d)
	})
}

func number(rs *appsv1.ReplicaSet, annotation string) (n int32, ok bool) {
	v, err := strconv.ParseUint(rs.Annotations[annotation], 10, 31)
	return int32(v), err == nil
}

// resize handles a paused or resized Deployment. It scales existing ReplicaSets to the new size, and creates none.
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

// share gives the Deployment's size to the only ReplicaSet with pods. If none has pods, it gives the size to the
// current one, or to the newest if there is no current one. If several have pods and the current one has all wanted
// pods, it scales the others to zero. Otherwise a rollout is under way. Then, with strategy RollingUpdate, share
// divides the change of the size among them in proportion.
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

// only returns the ReplicaSet that gets all pods. It returns nil if several have pods, or if there is no ReplicaSet.
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

// saturated reports whether the current ReplicaSet has the Deployment's size in three places: its spec, its annotation
// desired-replicas, and its number of available pods.
func (u *rollout) saturated() bool {
	rs, n := u.current(), replicas(u.d)
	if rs == nil {
		return false
	}
	desired, err := strconv.Atoi(rs.Annotations[desiredAnnotation])
	return err == nil && int32(desired) == n && size(rs) == n && rs.Status.AvailableReplicas == n
}

// shareAmong scales the ReplicaSets with pods in proportion, so that together they have the allowed number of pods.
// Larger ones come first. Of two equal ones, the newer comes first if they grow, the older if they shrink. The first
// ReplicaSet gets the rounding remainder.
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

// part returns a ReplicaSet's share of the total change. changed is the sum of the earlier shares. A ReplicaSet grows
// or shrinks by the same factor as the maximum number of pods, up to the rest of the total change.
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
		if before = u.d.Status.Replicas; before == 0 { // neither the annotation nor the status has a number
			return 0
		}
	}
	return int32(math.Round(float64(size(rs)*most(u.d))/float64(before))) - size(rs)
}

// limits returns maxSurge, rounded up, and maxUnavailable, rounded down, as numbers of pods. If both are zero, one pod
// may be unavailable, because otherwise a rollout could not proceed. With strategy Recreate both are zero.
func limits(d *appsv1.Deployment) (surge, unavailable int32) {
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return 0, 0
	}
	wanted := replicas(d)
	if how := d.Spec.Strategy.RollingUpdate; how != nil {
		surge, unavailable = scaled(how.MaxSurge, wanted, true), scaled(how.MaxUnavailable, wanted, false)
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, wanted)
}

// scaled returns v as a number of pods. A percentage refers to the parameter of. The server accepts no other values.
func scaled(v *intstr.IntOrString, of int32, up bool) int32 {
	n, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(v, intstr.FromInt32(0)), int(of), up)
	if err != nil {
		return 0
	}
	return int32(n)
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

func most(d *appsv1.Deployment) int32 {
	surge, _ := limits(d)
	return replicas(d) + surge
}

func least(d *appsv1.Deployment) int32 {
	_, unavailable := limits(d)
	return replicas(d) - unavailable
}

// hasDeadline reports whether the Deployment has a progress deadline. The maximum value means that it has none.
func hasDeadline(d *appsv1.Deployment) bool {
	s := d.Spec.ProgressDeadlineSeconds
	return s != nil && *s != math.MaxInt32
}

// keepsHistory returns the number of old ReplicaSets to keep, and whether it is limited.
func keepsHistory(d *appsv1.Deployment) (int, bool) {
	n := d.Spec.RevisionHistoryLimit
	if n == nil || *n == math.MaxInt32 {
		return 0, false
	}
	return int(*n), true
}

// exceedsBounds is the check of the invariant stay-within-bounds. It describes how scaling, creating or deleting a
// ReplicaSet exceeds the bounds of a rollout. For a paused or resized Deployment it checks only deletions.
func exceedsBounds(f *law.Facts) string {
	if f.After == nil {
		if rs := f.Before.(*appsv1.ReplicaSet); size(rs) > 0 || rs.Status.Replicas > 0 {
			return "deleted while it has pods"
		}
		return ""
	}
	d, rs := f.Owner.(*appsv1.Deployment), f.After.(*appsv1.ReplicaSet)
	was := &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: new(int32)}}
	if f.Before != nil {
		was = f.Before.(*appsv1.ReplicaSet)
	}
	sets := make([]*appsv1.ReplicaSet, len(f.Dependents))
	for i, obj := range f.Dependents {
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

// exceeds describes that a growing ReplicaSet leads to too many pods, or grows beside old pods with strategy Recreate.
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

// deprives returns a description if a shrinking ReplicaSet loses available pods and too few are left. The available
// pods of other ReplicaSets with the current template all count, even if these ReplicaSets are already shrinking.
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
