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
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
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
