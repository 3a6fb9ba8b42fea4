package disruption

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pods that are said to be evicted have keys of their own in the queue. No budget has
// such a name.
const podMark = "/pod:"

func podKey(pod *corev1.Pod) string { return pod.Namespace + podMark + pod.Name }

// podOf is the key of the Pod that such a key stands for.
func podOf(key string) (pod string, ok bool) {
	namespace, name, ok := strings.Cut(key, podMark)
	return namespace + "/" + name, ok
}

// announced is the condition that says that a Pod is about to be evicted. It is nothing
// to wait for where the Pod is going, or has ended, or where its kubelet says so: that may
// take as long as it likes.
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

// stays takes back that a Pod is about to be evicted, when it has not gone in time.
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
