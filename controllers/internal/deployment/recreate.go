package deployment

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recreate is one step of strategy Recreate: it removes old pods, and when none runs any more, creates or scales up the
// current ReplicaSet.
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

// oldPods reports whether an old ReplicaSet reports pods, or owns one that has not ended. Ownership is by
// ControllerRef, whatever the labels (RULES H74).
func (u *rollout) oldPods() bool {
	return slices.ContainsFunc(u.old(), func(rs *appsv1.ReplicaSet) bool {
		return rs.Status.Replicas > 0 ||
			slices.ContainsFunc(index(u.pods, controllerIndex, string(rs.UID)), func(obj any) bool {
				phase := obj.(*corev1.Pod).Status.Phase
				return phase != corev1.PodFailed && phase != corev1.PodSucceeded
			})
	})
}

// deletePods is what a Deployment must not do: pods belong to its ReplicaSets (LAW-2).
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
