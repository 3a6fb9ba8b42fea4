// Package podgc is the pod garbage collector. It removes pods that no kubelet will remove (RULES L112). Every 20
// seconds it removes:
//
//   - the oldest ended pods, above a threshold;
//   - terminating pods on a node that is out of service;
//   - pods on a node that does not exist;
//   - terminating pods that never had a node.
//
// A pod that has not ended is first marked as failed, so that its owner knows that it will not run again. Failures are
// retried in the next round.
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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

const (
	period = 20 * time.Second
	// quarantine is the time for which a node must be missing before its pods are removed, because the cache may be
	// late.
	quarantine = 40 * time.Second
	// round is the only key of the queue.
	round = "round"
)

// Threshold is the default number of ended pods that may stay: kube-controller-manager's --terminated-pod-gc-threshold.
const Threshold = 12500

var (
	podKind  = corev1.SchemeGroupVersion.WithKind("Pod")
	nodeKind = corev1.SchemeGroupVersion.WithKind("Node")
)

type Options struct {
	// Threshold is the number of ended pods that may stay. 0 stands for [Threshold]. A negative number keeps all.
	Threshold int
	Without   Without
}

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Quarantine bool // treat a node that the cache lacks as missing at once
	LiveNode   bool // treat a missing node as gone without reading it from the server
	OutOfUse   bool // treat a ready node with the taint as out of service
	Taint      bool // treat a node that is not ready as out of service without the taint
	Dying      bool // remove pods that are not terminating from nodes out of service
	Unbound    bool // remove pods that wait for a node
	Mark       bool // remove pods without marking them Failed
	MarkUID    bool // mark a pod by name, even if the name now belongs to a recreated pod
	RemoveUID  bool // remove a pod by name, even if the name now belongs to a recreated pod
}

// New returns the controller. The ownership laws do not apply to it, because it removes any pod that cannot run.
func New(o Options) host.Controller {
	if o.Threshold == 0 {
		o.Threshold = Threshold
	}
	return host.Controller{
		Name: "podgc", Contract: law.Contract{Profile: law.Upstream, Invariants: []*law.Invariant{
			{
				ID: "keep-runnable-pods",
				Sentence: "The pod garbage collector removes only pods that can no longer run, and first writes this to " +
					"their status. It keeps pods of a node that was deleted a moment ago.",
				When: law.AtWrite, Recent: quarantine,
				Check: takesRunnable,
			},
		}},
		New: func(env *host.Env) host.Reconciler {
			env.Queue.Add(round)
			return &collector{options: &o, env: env,
				pods: env.Informer(podKind).GetIndexer(), nodes: env.Informer(nodeKind).GetIndexer(),
				missing: map[string]time.Time{}}
		},
	}
}

// collector is the controller. missing maps the name of each missing node to the end of its quarantine.
type collector struct {
	options *Options
	env     *host.Env
	pods    cache.Indexer
	nodes   cache.Indexer
	missing map[string]time.Time
}

func (c *collector) Digest(h *sim.Hash) {
	for _, name := range slices.Sorted(maps.Keys(c.missing)) {
		h.String(name)
		h.Word(uint64(c.missing[name].Sub(c.env.Now())))
	}
}

// Sync runs one round. The next round retries failed requests.
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

// ended removes ended pods above the threshold: evicted ones first, then the oldest.
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

// outOfService removes terminating pods of nodes that are not ready and have the out-of-service taint. It uses the
// cached node, which may be old (kubernetes#141887).
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

// orphaned removes the pods of a missing node, if at the end of its quarantine neither the cache nor the server has it.
func (c *collector) orphaned(ctx context.Context, pods []*corev1.Pod, known map[string]*corev1.Node) {
	due := c.due(pods, known)
	due = slices.DeleteFunc(due, func(name string) bool { return !c.gone(ctx, name) })
	c.remove(ctx, filter(pods, func(pod *corev1.Pod) bool { return slices.Contains(due, pod.Spec.NodeName) }),
		&corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "DeletionByPodGC",
			Message: "PodGC: node no longer exists"})
}

// due returns the missing nodes whose quarantine is over. It starts a quarantine for the other missing nodes.
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

func (c *collector) gone(ctx context.Context, node string) bool {
	if c.options.Without.LiveNode {
		return true
	}
	_, err := c.env.Client.Get(ctx, nodeKind, "", node)
	return apierrors.IsNotFound(err)
}

func (c *collector) unscheduled(ctx context.Context, pods []*corev1.Pod) {
	c.remove(ctx, filter(pods, func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" && (pod.DeletionTimestamp != nil || c.options.Without.Unbound)
	}), nil)
}

// dispensable orders evicted pods first, then older pods, then by name and namespace.
func dispensable(a, b *corev1.Pod) int {
	return cmp.Or(cmp.Compare(evicted(b), evicted(a)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
		strings.Compare(a.Name, b.Name),
		strings.Compare(a.Namespace, b.Namespace))
}

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

// takesRunnable is the check of the invariant keep-runnable-pods. It returns why a pod must not be marked or removed
// now, or "". A pod that has not ended must not be removed. It may be marked if its node does not exist. It may also be
// marked if it is terminating and has no node, or a node that is out of service.
func takesRunnable(f *law.Facts) string {
	pod, ok := f.Before.(*corev1.Pod)
	switch {
	case !ok, pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return ""
	case f.After == nil:
		return "removed without being marked Failed"
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil:
		return "marked Failed while it waits for a node"
	case pod.Spec.NodeName == "":
		return ""
	}
	node, there := f.Get(nodeKind.Kind, "", pod.Spec.NodeName).(*corev1.Node)
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

// remove marks pods that have not ended as failed, and adds the condition, if it is not nil. Then it removes the pods.
// A pod that cannot be marked stays for the next round. Both requests carry the uid (EXACT-4). Upstream removes by name
// (RULES L112).
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

// stamped returns a condition for a pod's status. Its LastTransitionTime is the current time. If the pod already has
// the condition with this status, the old time stays.
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
