package replicas

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeStatus writes the status if it is not right already (WRITE-9). A set
// that is being deleted still has its status written (ADOPT-3).
func (r *reconciler) writeStatus(ctx context.Context, set *Set, pods []*corev1.Pod, scaleErr error) error {
	if r.options.Without.OwnStatus {
		pods = r.selected(set)
	}
	now := r.env.Now()
	status := count(set, pods, now)
	if r.kind.Terminating {
		n := r.terminating(set)
		status.TerminatingReplicas = &n
	}
	if r.options.Without.Ready {
		status.ReadyReplicas = status.Replicas
	}
	status.Conditions = replicaFailure(set, len(pods), scaleErr, now)
	status.ObservedGeneration = set.Generation
	if same(&status, &set.Status) && !r.options.Without.Unchanged {
		return nil
	}
	_, err := r.env.Client.UpdateStatus(ctx, r.kind.WithStatus(set.Object, status))
	return err
}

// count counts the set's own pods and nobody else's (LAW-3).
func count(set *Set, pods []*corev1.Pod, now time.Time) appsv1.ReplicaSetStatus {
	status := appsv1.ReplicaSetStatus{Replicas: int32(len(pods))}
	for _, pod := range pods {
		if contains(pod.Labels, set.Template.Labels) {
			status.FullyLabeledReplicas++
		}
		if ready(pod) {
			status.ReadyReplicas++
			if available(pod, set.MinReadySeconds, now) {
				status.AvailableReplicas++
			}
		}
	}
	return status
}

// terminating counts the set's pods that are being deleted.
func (r *reconciler) terminating(set *Set) int32 {
	if r.options.Generation != ControllerRef {
		return 0
	}
	n := int32(0)
	for _, obj := range r.index(controllerIndex, string(set.UID)) {
		if pod := obj.(*corev1.Pod); pod.DeletionTimestamp != nil && !ended(pod) && set.Matches(pod.Labels) {
			n++
		}
	}
	return n
}

// replicaFailure is the set's conditions, with the one that says that pods
// could not be created or deleted set or removed.
func replicaFailure(set *Set, have int, scaleErr error, now time.Time) []appsv1.ReplicaSetCondition {
	old := set.Status.Conditions
	i := slices.IndexFunc(old,
		func(c appsv1.ReplicaSetCondition) bool { return c.Type == appsv1.ReplicaSetReplicaFailure })
	switch {
	case scaleErr == nil && i >= 0:
		return slices.Delete(slices.Clone(old), i, i+1)
	case scaleErr == nil || i >= 0:
		return old
	}
	reason := "FailedDelete"
	if have < set.Replicas {
		reason = "FailedCreate"
	}
	return append(slices.Clip(old), appsv1.ReplicaSetCondition{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
		Reason: reason, Message: scaleErr.Error(), LastTransitionTime: metav1.NewTime(now),
	})
}

// same reports whether two statuses say the same.
func same(a, b *appsv1.ReplicaSetStatus) bool {
	return a.Replicas == b.Replicas && a.FullyLabeledReplicas == b.FullyLabeledReplicas &&
		a.ReadyReplicas == b.ReadyReplicas && a.AvailableReplicas == b.AvailableReplicas &&
		a.ObservedGeneration == b.ObservedGeneration && len(a.Conditions) == len(b.Conditions) &&
		samePointer(a.TerminatingReplicas, b.TerminatingReplicas)
}

func samePointer(a, b *int32) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func ready(pod *corev1.Pod) bool { return readyCondition(pod) != nil }

// readyCondition is the condition that says that a pod is ready; nil when it is not.
func readyCondition(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// available: it has been ready for minReadySeconds. A pod that does not say
// since when it is ready has not.
func available(pod *corev1.Pod, minReadySeconds int32, now time.Time) bool {
	if minReadySeconds == 0 {
		return true
	}
	since := readyCondition(pod).LastTransitionTime
	return !since.IsZero() && !since.Add(time.Duration(minReadySeconds)*time.Second).After(now)
}
