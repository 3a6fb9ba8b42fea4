// Package podgc is the pod garbage collector: it removes pods that no kubelet will
// remove, whoever owns them (RULES L112). Every 20 seconds it looks at all pods:
//
//   - of those that have ended the oldest, where there are more than a threshold;
//   - those that are being deleted on a node that is out of service;
//   - those on a node that does not exist;
//   - those that are being deleted and never had a node.
//
// A pod that has not ended is marked Failed before it is removed, as its owner is
// to know that it will not come back. Nothing is tried again before the next round.
package podgc

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

const (
	period = 20 * time.Second
	// quarantine is how long a node must have been missing, so that one that has
	// only not been shown yet may appear.
	quarantine = 40 * time.Second
	// round is the one key of its queue.
	round = "round"
)

// Threshold is how many pods that have ended may stay, if Options do not say: what
// kube-controller-manager's --terminated-pod-gc-threshold is without more.
const Threshold = 12500

var (
	podKind  = corev1.SchemeGroupVersion.WithKind("Pod")
	nodeKind = corev1.SchemeGroupVersion.WithKind("Node")
)

// Options choose a collector.
type Options struct {
	// Threshold is how many pods that have ended may stay; negative for all.
	Threshold int
	Without   Without
}

// Without names guards to disable; see package mutants. The zero value keeps all. One place checks each guard.
type Without struct {
	Quarantine bool // a node that the cache does not show is taken for missing at once
	LiveNode   bool // ... and is not looked for at the server
	OutOfUse   bool // a node with the taint is taken for out of service though it is ready
	Taint      bool // ... and one that is not ready though it lacks the taint
	Dying      bool // pods are removed from a node that is out of service though nobody deletes them
	Unbound    bool // ... and pods that wait for a node
	Mark       bool // pods are removed without being marked Failed
	MarkUID    bool // whatever pod has the name by now is marked Failed
	RemoveUID  bool // ... is removed
}

// New returns the collector. It declares no kind of its own, as the laws of
// ownership do not concern it: it removes what cannot run, whoever owns it.
func New(o Options) host.Controller {
	if o.Threshold == 0 {
		o.Threshold = Threshold
	}
	return host.Controller{
		Name: "podgc", Contract: law.Contract{Profile: law.Upstream, Invariants: []*law.Invariant{
			{ID: "PODGC-1", When: law.AtWrite, Recent: quarantine, Check: func(f *law.Facts) string {
				return spares(f.Before, f.After == nil, f.Get)
			}},
		}},
		New: func(env *host.Env) host.Reconciler {
			env.Queue.Add(round)
			return &collector{options: &o, env: env,
				pods: env.Informer(podKind).GetIndexer(), nodes: env.Informer(nodeKind).GetIndexer(),
				missing: map[string]time.Time{}}
		},
	}
}

// collector remembers which nodes it misses, and until when it will wait for each.
type collector struct {
	options *Options
	env     *host.Env
	pods    cache.Indexer
	nodes   cache.Indexer
	missing map[string]time.Time
}

// Digest folds the nodes that are missing, and how long they will be waited for.
func (c *collector) Digest(h *sim.Hash) {
	for _, name := range slices.Sorted(maps.Keys(c.missing)) {
		h.String(name)
		h.Word(uint64(c.missing[name].Sub(c.env.Now())))
	}
}

// Sync is one round. What it could not do is left to the next.
func (c *collector) Sync(ctx context.Context, key string) error {
	var pods []*corev1.Pod
	for _, obj := range c.pods.List() {
		pods = append(pods, obj.(*corev1.Pod))
	}
	known := map[string]*corev1.Node{}
	for _, obj := range c.nodes.List() {
		node := obj.(*corev1.Node)
		known[node.Name] = node
	}
	c.ended(ctx, pods)
	c.outOfService(ctx, pods, known)
	c.orphaned(ctx, pods, known)
	c.unscheduled(ctx, pods)
	c.env.Queue.AddAfter(key, period)
	return nil
}

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

// spares says why a pod may not be marked or removed as things stand (PODGC-1): it
// waits for a node, or has one that is there and in service; or it is to be removed
// and was not marked. One that has ended is no loss.
func spares(obj runtime.Object, deletes bool, get func(kind, namespace, name string) runtime.Object) string {
	pod, ok := obj.(*corev1.Pod)
	switch {
	case !ok, pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return ""
	case deletes:
		return "removed without being marked Failed"
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
		return "marked Failed while it waits for a node"
	case pod.Spec.NodeName == "":
		return ""
	}
	node, there := get(nodeKind.Kind, "", pod.Spec.NodeName).(*corev1.Node)
	switch {
	case !there:
		return ""
	case ready(node):
		return "marked Failed while node/" + node.Name + " is there and ready"
	case !tainted(node):
		return "marked Failed while node/" + node.Name + " is there and not out of service"
	case pod.DeletionTimestamp == nil:
		return "marked Failed though nobody deletes it"
	}
	return ""
}

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
