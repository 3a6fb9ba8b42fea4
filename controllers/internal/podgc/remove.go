package podgc

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim/host"
)

// remove marks pods as failed, with a condition if there is one, and removes them.
// One that cannot be marked stays; the next round meets it again. Mark and removal
// carry the uid (EXACT-4); upstream's removal goes by name (RULES L112).
func (c *collector) remove(ctx context.Context, pods []*corev1.Pod, condition *corev1.PodCondition) {
	for _, pod := range pods {
		if c.mark(ctx, pod, condition) == nil {
			now := int64(0)
			guards := &metav1.Preconditions{UID: &pod.UID}
			if c.options.Without.RemoveUID {
				guards = nil
			}
			_ = c.env.Client.Delete(ctx, podKind, pod.Namespace, pod.Name,
				metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: guards})
		}
	}
}

// mark says in a pod's status that it has failed, unless it has ended already. It
// says so of this incarnation only.
func (c *collector) mark(ctx context.Context, pod *corev1.Pod, condition *corev1.PodCondition) error {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || c.options.Without.Mark {
		return nil
	}
	status := map[string]any{"phase": corev1.PodFailed, "observedGeneration": pod.Generation}
	if condition != nil {
		status["conditions"] = []corev1.PodCondition{c.stamped(pod, *condition)}
	}
	patch := map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status}
	if c.options.Without.MarkUID {
		delete(patch, "metadata")
	}
	data, err := json.Marshal(patch)
	if err != nil {
		panic("podgc: a patch did not encode: " + err.Error())
	}
	_, err = c.env.Client.Patch(ctx, podKind, pod.Namespace, pod.Name,
		host.Patch{Type: types.StrategicMergePatchType, Data: data, Subresource: "status"})
	return err
}

// stamped is a condition as it goes into a pod's status: since when it holds is
// kept where it held already.
func (c *collector) stamped(pod *corev1.Pod, condition corev1.PodCondition) corev1.PodCondition {
	condition.ObservedGeneration = pod.Generation
	condition.LastTransitionTime = metav1.NewTime(c.env.Now())
	i := slices.IndexFunc(pod.Status.Conditions,
		func(old corev1.PodCondition) bool { return old.Type == condition.Type })
	if i >= 0 && pod.Status.Conditions[i].Status == condition.Status {
		condition.LastTransitionTime = pod.Status.Conditions[i].LastTransitionTime
	}
	return condition
}
