package daemonset

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/placement"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim"
)

// byNode groups the set's pods by node. From the era controllerref on, an unbound pod counts for the node in its
// affinity (RULES G73). byNode ignores other unbound pods, and terminating pods that have ended.
func (w *work) byNode(pods []*corev1.Pod) map[string][]*corev1.Pod {
	nodes := map[string][]*corev1.Pod{}
	for _, p := range pods {
		if pod.Ended(p) && p.DeletionTimestamp != nil && !w.options.Without.Dying {
			continue
		}
		node := placement.Target(p)
		if w.bySelector() || w.options.Without.Target {
			node = p.Spec.NodeName
		}
		if node != "" {
			nodes[node] = append(nodes[node], p)
		}
	}
	for _, on := range nodes { //detcheck:ordered each list is sorted by itself
		slices.SortFunc(on, firstOnNode)
	}
	return nodes
}

func firstOnNode(a, b *corev1.Pod) int {
	switch x, y := a.Spec.NodeName != "", b.Spec.NodeName != ""; {
	case x && !y:
		return -1
	case y && !x:
		return 1
	}
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
}

// manage creates the pods that nodes lack, and deletes the pods that they should not have.
func (w *work) manage(ctx context.Context) error {
	have := w.byNode(w.pods)
	var lacking []string
	var surplus []*corev1.Pod
	there := map[string]bool{}
	for _, node := range w.nodes {
		there[node.Name] = true
		lacks, drops := w.place(node, have[node.Name])
		if lacks {
			lacking = append(lacking, node.Name)
		}
		surplus = append(surplus, drops...)
	}
	if !w.options.Without.Lost {
		// Only this loop deletes unbound pods whose node is gone: pod garbage collection leaves them.
		for _, node := range slices.Sorted(maps.Keys(have)) {
			for _, p := range have[node] {
				if !there[node] && p.Spec.NodeName == "" {
					surplus = append(surplus, p)
				}
			}
		}
	}
	return w.scale(ctx, lacking, surplus)
}

// place reports whether a node lacks a pod, and which of its pods to delete. Without maxSurge, a node with a
// terminating pod gets a new pod only after that pod has ended or is gone.
func (w *work) place(node *corev1.Node, have []*corev1.Pod) (lacks bool, drops []*corev1.Pod) {
	run, stay := fits(w.set, node, w.options)
	if !stay {
		return false, slices.DeleteFunc(slices.Clone(have), dying)
	}
	if len(have) == 0 {
		return run, nil
	}
	var running []*corev1.Pod
	for _, p := range have {
		switch {
		case dying(p):
		case !pod.Ended(p) || w.options.Without.Ended:
			running = append(running, p)
		case p.Status.Phase == corev1.PodSucceeded || w.mayReplace(node.Name):
			drops = append(drops, p)
		}
	}
	switch {
	case w.options.Without.Surplus:
	case !surges(w.set):
		if len(running) > 1 {
			drops = append(drops, running[1:]...)
		}
	case len(running) == 0:
		lacks = run
	default:
		drops = append(drops, w.outlived(running)...)
	}
	return lacks, drops
}

func dying(p *corev1.Pod) bool { return p.DeletionTimestamp != nil }

// outlived returns the pods to delete on a node of a set that surges. The node may have an old and a new pod. The old
// pod is deleted when the new pod is available or the old pod is not ready.
func (w *work) outlived(running []*corev1.Pod) (drops []*corev1.Pod) {
	if len(running) == 1 {
		return nil
	}
	var fresh, old *corev1.Pod
	for _, p := range running {
		of := &old
		if p.Labels[appsv1.ControllerRevisionHashLabelKey] == w.hash {
			of = &fresh
		}
		if *of != nil {
			drops = append(drops, p)
		} else {
			*of = p
		}
	}
	if fresh != nil && old != nil && (!pod.Ready(old) || w.available(fresh)) {
		drops = append(drops, old)
	}
	return drops
}

func (w *work) available(p *corev1.Pod) bool {
	return pod.Available(p, w.set.Spec.MinReadySeconds, w.env.Now())
}

const (
	firstDelay = time.Second
	mostDelay  = 15 * time.Minute
)

// failures holds the backoff of failed pods. A key names a set, its generation and a node. It names no pod, because a
// kubelet that refuses a pod also refuses its replacement.
type failures map[string]failure

type failure struct {
	delay time.Duration
	since time.Time
}

// mayReplace reports whether a failed pod of a node may be deleted. Each deletion doubles the delay until the next one.
// If the set must wait, it is requeued.
func (w *work) mayReplace(node string) bool {
	if w.options.Without.Patience {
		return true
	}
	now := w.env.Now()
	key := fmt.Sprintf("%s/%d/%s", w.set.UID, w.set.Status.ObservedGeneration, node)
	f := w.failures[key]
	switch age := now.Sub(f.since); {
	case age > 2*mostDelay: // since is zero if the node had no failure before
		f.delay = firstDelay
	case age < f.delay:
		w.env.Queue.AddAfter(w.key, f.delay)
		return false
	default:
		f.delay = min(2*f.delay, mostDelay)
	}
	f.since = now
	w.failures[key] = f
	return true
}

// digest hashes the delays that are not expired.
func (f failures) digest(h *sim.Hash, now time.Time) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if age := now.Sub(f[key].since); age <= 2*mostDelay {
			h.String(key)
			h.Word(uint64(f[key].delay))
			h.Word(uint64(age))
		}
	}
}

// fits reports whether a node should run a pod of a set, and whether an existing pod may stay. A pod may stay if the
// node's labels match and its NoExecute taints are tolerated. To run a new pod, the NoSchedule taints must be tolerated
// too. The node's free resources do not matter.
func fits(set *appsv1.DaemonSet, node *corev1.Node, o *Options) (run, stay bool) {
	if o.Without.Eligible {
		return true, true
	}
	spec := &set.Spec.Template.Spec
	if spec.NodeName != "" && spec.NodeName != node.Name || !placement.Selected(spec, node) {
		return false, o.Without.Evict
	}
	if len(node.Spec.Taints) == 0 {
		return true, true
	}
	tolerated := tolerations(spec)
	if placement.Untolerated(node, tolerated, corev1.TaintEffectNoExecute) {
		return false, o.Without.Evict
	}
	return !placement.Untolerated(node, tolerated, corev1.TaintEffectNoSchedule), true
}

// always lists the taints that all DaemonSet pods tolerate, because nodes with problems need these pods too.
var always = []struct {
	key    string
	effect corev1.TaintEffect
}{
	{corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute},
	{corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute},
	{corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule},
	{corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule}, // only for pods on the host network
}

// tolerations returns the template's tolerations and the tolerations of all DaemonSet pods. If the template already
// tolerates one of these taints, its toleration is replaced, because it may have a time limit.
func tolerations(spec *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(spec.Tolerations)
	for _, taint := range always {
		if taint.key == corev1.TaintNodeNetworkUnavailable && !spec.HostNetwork {
			continue
		}
		want := corev1.Toleration{Key: taint.key, Operator: corev1.TolerationOpExists, Effect: taint.effect}
		found := false
		for i := range all {
			if all[i].MatchToleration(&want) {
				all[i], found = want, true
			}
		}
		if !found {
			all = append(all, want)
		}
	}
	return all
}

// bindTo sets the node affinity in a pod's spec to one node. It changes spec, which must be a copy.
func bindTo(spec *corev1.PodSpec, node string) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}
}
