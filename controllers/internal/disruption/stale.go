package disruption

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods with an announced eviction have keys of their own in the queue. No budget has such a name.
const podMark = "/pod:"

func podKey(pod *corev1.Pod) string { return pod.Namespace + podMark + pod.Name }

// podOf returns the Pod of such a key.
func podOf(key string) (pod string, ok bool) {
	namespace, name, ok := strings.Cut(key, podMark)
	return namespace + "/" + name, ok
}

// announced returns the condition of an announced eviction. It returns nil if the Pod is terminating or has ended, or
// if its kubelet set the condition, since that may take any time.
func announced(pod *corev1.Pod) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions,
		func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	if i < 0 || pod.DeletionTimestamp != nil ||
		pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil
	}
	c := &pod.Status.Conditions[i]
	if c.Status != corev1.ConditionTrue || c.Reason == corev1.PodReasonTerminationByKubelet {
		return nil
	}
	return c
}

// stays resets a Pod's announced eviction after a time.
func (r *reconciler) stays(ctx context.Context, key, pod string) error {
	obj, exists, err := r.pods.GetByKey(pod)
	if err != nil || !exists {
		return err
	}
	p := obj.(*corev1.Pod)
	c := announced(p)
	if c == nil {
		return nil
	}
	now := r.env.Now()
	if left := c.LastTransitionTime.Add(patience).Sub(now); left > 0 {
		r.env.Queue.AddAfter(key, left)
		return nil
	}
	p = p.DeepCopy()
	*announced(p) = corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionFalse,
		ObservedGeneration: p.Generation, LastTransitionTime: metav1.NewTime(now)}
	_, err = r.env.Client.UpdateStatus(ctx, p)
	return err
}
