package deployment

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// roll is one step of strategy RollingUpdate. It scales up the current ReplicaSet as far as maxSurge allows. If it
// cannot, it scales down old ReplicaSets as long as enough pods are available.
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

// grow scales the current ReplicaSet up as far as maxSurge allows, or down to its wanted size.
func (u *rollout) grow(ctx context.Context) (bool, error) {
	rs := u.current()
	if size(rs) >= replicas(u.d) {
		return u.scale(ctx, rs, replicas(u.d))
	}
	return u.scale(ctx, rs, u.room(size(rs)))
}

// room returns the size that the current ReplicaSet may get now. The parameter have is its present size.
func (u *rollout) room(have int32) int32 {
	if u.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType || u.options.Without.Room {
		return replicas(u.d)
	}
	return have + max(min(most(u.d)-total(u.sets, size), replicas(u.d)-have), 0)
}

// shrink scales old ReplicaSets down, the oldest first. It removes unavailable pods before available ones.
//
// It does not count unavailable pods of the current ReplicaSet. So old pods stay if the new ones never become
// available. If an old ReplicaSet is about to delete available pods, shrink does nothing, because it cannot know how
// many will be left. It skips ReplicaSets of size zero, because their status may be old.
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

// takeFrom scales ReplicaSets down by at most n pods in total, and each ReplicaSet by at most has(rs).
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

// recreate is one step of strategy Recreate. It removes old pods. When none runs, it scales up the current ReplicaSet.
func (u *rollout) recreate(ctx context.Context) error {
	stopped := false
	for _, rs := range keep(u.old(), active) {
		if _, err := u.scale(ctx, rs, 0); err != nil {
			return err
		}
		stopped = true
	}
	if stopped || !u.options.Without.Empty && u.oldPods() {
		if u.options.Without.Pods {
			if err := u.deletePods(ctx); err != nil {
				return err
			}
		}
		return u.writeProgress(ctx)
	}
	if u.current() == nil {
		if err := u.create(ctx); err != nil {
			return err
		}
	}
	if _, err := u.scale(ctx, u.current(), replicas(u.d)); err != nil {
		return err
	}
	if complete(u.d, &u.d.Status) {
		if err := u.cleanUp(ctx); err != nil {
			return err
		}
	}
	return u.writeProgress(ctx)
}

// oldPods reports whether an old ReplicaSet reports pods, or controls a pod that has not ended (RULES H74).
func (u *rollout) oldPods() bool {
	return slices.ContainsFunc(u.old(), func(rs *appsv1.ReplicaSet) bool {
		return rs.Status.Replicas > 0 ||
			slices.ContainsFunc(index(u.pods, controllerIndex, string(rs.UID)), func(obj any) bool {
				phase := obj.(*corev1.Pod).Status.Phase
				return phase != corev1.PodFailed && phase != corev1.PodSucceeded
			})
	})
}

// deletePods deletes the pods of old ReplicaSets. Only a mutant calls it, because the ReplicaSets own the pods (LAW-2).
func (u *rollout) deletePods(ctx context.Context) error {
	for _, rs := range u.old() {
		for _, obj := range index(u.pods, controllerIndex, string(rs.UID)) {
			pod := obj.(*corev1.Pod)
			err := u.env.Client.Delete(ctx, podKind, pod.Namespace, pod.Name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// rollbackTo returns the revision of a rollback request, or 0 for the revision before the last. The request is a field
// of old API versions, stored in an annotation. Today's kubectl writes the old template into the Deployment instead.
func rollbackTo(d *appsv1.Deployment) (revision int64, asked bool) {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	return n, err == nil
}

// rollback gives the Deployment the template and annotations of the ReplicaSet with revision to. It removes the request
// even if no ReplicaSet has this revision.
func (u *rollout) rollback(ctx context.Context, to int64) error {
	if u.current() == nil {
		if err := u.create(ctx); err != nil {
			return err
		}
	}
	if to == 0 {
		to = u.lastRevision()
	}
	d := *u.d
	if rs := u.ofRevision(to); rs != nil && !template.Same(&rs.Spec.Template, &d.Spec.Template) {
		d.Spec.Template = rs.Spec.Template
		d.Spec.Template.Labels = with(rs.Spec.Template.Labels, nil)
		delete(d.Spec.Template.Labels, template.HashLabel)
		d.Annotations = annotationsOf(&d, rs)
	}
	d.Annotations = with(d.Annotations, nil)
	delete(d.Annotations, appsv1.DeprecatedRollbackTo)
	_, err := u.env.Client.Update(ctx, &d)
	return err
}

func annotationsOf(d *appsv1.Deployment, rs *appsv1.ReplicaSet) map[string]string {
	out := map[string]string{}
	for k, v := range d.Annotations { //detcheck:ordered each key is set once
		if ofItsOwn(k) {
			out[k] = v
		}
	}
	for k, v := range rs.Annotations { //detcheck:ordered each key is set once
		if !ofItsOwn(k) {
			out[k] = v
		}
	}
	return out
}

// lastRevision returns the second highest revision of the ReplicaSets, or 0 if there is none.
func (u *rollout) lastRevision() int64 {
	all := []int64{0, 0}
	for _, rs := range u.sets {
		if n, err := revision(rs); err == nil {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all[len(all)-2]
}

// ofRevision returns the ReplicaSet of a revision, or nil. It looks at the current ReplicaSet last.
func (u *rollout) ofRevision(n int64) *appsv1.ReplicaSet {
	for _, rs := range append(u.old(), keep(u.sets, func(rs *appsv1.ReplicaSet) bool { return rs == u.current() })...) {
		if v, err := revision(rs); err == nil && v == n && n != 0 {
			return rs
		}
	}
	return nil
}

// cleanUp deletes old ReplicaSets beyond the history limit, lowest revisions first. It deletes only ReplicaSets of size
// zero without pods, and only if the ReplicaSet controller has observed that size (RULES H78).
//
// A delete carries the uid, so a recreated ReplicaSet with the same name survives (EXACT-4). Upstream deletes by name.
func (u *rollout) cleanUp(ctx context.Context) error {
	limit, limited := keepsHistory(u.d)
	history := keep(u.old(), func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp == nil })
	if !limited || len(history) <= limit {
		return nil
	}
	slices.SortFunc(history, lower)
	for _, rs := range history[:len(history)-limit] {
		has := rs.Status.Replicas
		if u.options.Without.Idle {
			has = rs.Status.ReadyReplicas
		} else if active(rs) {
			continue
		}
		if has != 0 || rs.Generation > rs.Status.ObservedGeneration {
			continue
		}
		only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &rs.UID}}
		if u.options.Without.VictimUID {
			only = metav1.DeleteOptions{}
		}
		err := u.env.Client.Delete(ctx, SetKind, rs.Namespace, rs.Name, only)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

func lower(a, b *appsv1.ReplicaSet) int {
	m, err := revision(a)
	n, other := revision(b)
	if err != nil || other != nil {
		return older(a, b)
	}
	return cmp.Or(cmp.Compare(m, n), older(a, b))
}
