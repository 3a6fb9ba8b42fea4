package podgc

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ended removes the pods that have ended above the threshold: evicted ones first,
// which nobody made for a purpose, then the oldest.
func (c *collector) ended(ctx context.Context, pods []*corev1.Pod) {
	if c.options.Threshold < 0 {
		return
	}
	done := filter(pods, func(pod *corev1.Pod) bool {
		phase := pod.Status.Phase
		return phase != corev1.PodPending && phase != corev1.PodRunning && phase != corev1.PodUnknown
	})
	slices.SortFunc(done, dispensable)
	c.remove(ctx, done[:max(0, len(done)-c.options.Threshold)], nil)
}

// outOfService removes pods that are being deleted on nodes that somebody has
// declared to be out of service. That the node is not ready, and that it has the
// taint, is taken from the cache (kubernetes#141887).
func (c *collector) outOfService(ctx context.Context, pods []*corev1.Pod, known map[string]*corev1.Node) {
	without := &c.options.Without
	gone := filter(pods, func(pod *corev1.Pod) bool {
		node := known[pod.Spec.NodeName]
		return node != nil && (pod.DeletionTimestamp != nil || without.Dying) &&
			(!ready(node) || without.OutOfUse) && (tainted(node) || without.Taint)
	})
	slices.SortFunc(gone, dispensable)
	c.remove(ctx, gone, nil)
}

// orphaned removes pods from nodes that do not exist: those that the cache has not
// shown for the time of the quarantine, and that the server does not have.
func (c *collector) orphaned(ctx context.Context, pods []*corev1.Pod, known map[string]*corev1.Node) {
	due := c.due(pods, known)
	due = slices.DeleteFunc(due, func(name string) bool { return !c.gone(ctx, name) })
	c.remove(ctx, filter(pods, func(pod *corev1.Pod) bool { return slices.Contains(due, pod.Spec.NodeName) }),
		&corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC",
			Message: "PodGC: node no longer exists"})
}

// due are the nodes that are missing, and whose quarantine is over. Those that pods
// miss go into quarantine, where they are not in it: the ones that are due, too.
func (c *collector) due(pods []*corev1.Pod, known map[string]*corev1.Node) []string {
	now := c.env.Now()
	var due []string
	for _, name := range slices.Sorted(maps.Keys(c.missing)) {
		if until := c.missing[name]; !until.After(now) {
			delete(c.missing, name)
			if known[name] == nil {
				due = append(due, name)
			}
		}
	}
	for _, pod := range pods {
		name := pod.Spec.NodeName
		if name == "" || known[name] != nil {
			continue
		}
		if _, waiting := c.missing[name]; !waiting {
			c.missing[name] = now.Add(quarantine)
		}
		if c.options.Without.Quarantine && !slices.Contains(due, name) {
			due = append(due, name)
		}
	}
	return due
}

// gone asks the server whether a node is gone.
func (c *collector) gone(ctx context.Context, node string) bool {
	if c.options.Without.LiveNode {
		return true
	}
	_, err := c.env.Client.Get(ctx, nodeKind, "", node)
	return apierrors.IsNotFound(err)
}

// unscheduled removes pods that were deleted before they had a node.
func (c *collector) unscheduled(ctx context.Context, pods []*corev1.Pod) {
	c.remove(ctx, filter(pods, func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" && (pod.DeletionTimestamp != nil || c.options.Without.Unbound)
	}), nil)
}

// dispensable orders pods: evicted before others, older before younger, then by name.
func dispensable(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(evicted(b), evicted(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name),
		strings.Compare(a.Namespace, b.Namespace))
}

// evicted is 1 for a pod that was evicted, 0 for others.
func evicted(pod *corev1.Pod) int {
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == "Evicted" {
		return 1
	}
	return 0
}

func ready(node *corev1.Node) bool {
	i := slices.IndexFunc(node.Status.Conditions,
		func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	return i >= 0 && node.Status.Conditions[i].Status == corev1.ConditionTrue
}

func tainted(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints,
		func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

func filter(pods []*corev1.Pod, keep func(*corev1.Pod) bool) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, pod := range pods {
		if keep(pod) {
			kept = append(kept, pod)
		}
	}
	return kept
}
