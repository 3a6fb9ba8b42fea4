package daemonset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/routing"
)

// generationLabel is the label with the number of a pod's template. An annotation of the set has the current number,
// which the server increments. The label is older than revisions, but new pods still get it.
const generationLabel = "pod-template-generation"

func templateGeneration(set *appsv1.DaemonSet) string {
	n, err := strconv.ParseInt(set.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// updated reports whether a pod has the current template, as shown by its hash label or its generation label.
func (w *work) updated(p *corev1.Pod) bool {
	if number := templateGeneration(w.set); number != "" && p.Labels[generationLabel] == number {
		return true
	}
	return w.hash != "" && p.Labels[appsv1.ControllerRevisionHashLabelKey] == w.hash
}

// rolls reports whether the controller replaces outdated pods. The first two eras never do.
func (w *work) rolls() bool {
	return !w.bySelector() && w.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType
}

// limits returns how many nodes may have two pods, and how many pods may be unavailable, during an update. nodes is the
// number of nodes that should have a pod.
func limits(set *appsv1.DaemonSet, nodes int) (surge, unavailable int, err error) {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType {
		return 0, min(nodes, 1), nil
	}
	unavailable, err = intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, nodes, true)
	if err != nil {
		return 0, 0, fmt.Errorf("invalid value for MaxUnavailable: %v", err)
	}
	if rolling.MaxSurge != nil {
		if surge, err = intstr.GetScaledValueFromIntOrPercent(rolling.MaxSurge, nodes, true); err != nil {
			return 0, 0, fmt.Errorf("invalid value for MaxSurge: %v", err)
		}
	}
	if nodes > 0 && surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable, nil
}

func surges(set *appsv1.DaemonSet) bool {
	surge, _, _ := limits(set, 1)
	return surge > 0
}

// pair is the outdated and the updated pod of a node. more is set if the node has several outdated or several updated
// pods. Such a node counts towards the limits of the update until manage has deleted the extra pods.
type pair struct {
	node       string
	old, fresh *corev1.Pod
	more       bool
}

func (w *work) pairs() (pairs []pair, wanted int) {
	have := w.byNode(w.pods)
	for _, node := range w.nodes {
		run, _ := fits(w.set, node, w.options)
		if run {
			have[node.Name] = append(have[node.Name], nil...)
		}
		if run || w.options.Without.AllNodes {
			wanted++
		}
	}
	for _, node := range slices.Sorted(maps.Keys(have)) {
		n := pair{node: node}
		for _, p := range have[node] {
			of := &n.old
			switch {
			case dying(p):
				continue
			case w.updated(p):
				of = &n.fresh
			}
			n.more = n.more || *of != nil
			*of = p
		}
		pairs = append(pairs, n)
	}
	return pairs, wanted
}

func (w *work) roll(ctx context.Context) error {
	pairs, wanted := w.pairs()
	surge, unavailable, err := limits(w.set, wanted)
	if err != nil {
		return err
	}
	if surge == 0 || w.options.Era != Current {
		return w.scale(ctx, nil, w.replaceable(pairs, unavailable))
	}
	nodes, drops, err := w.surge(pairs, wanted, surge)
	if err != nil {
		return err
	}
	return w.scale(ctx, nodes, drops)
}

// replaceable returns the outdated pods that may be deleted: all unavailable ones, and available ones up to the limit.
func (w *work) replaceable(pairs []pair, most int) []*corev1.Pod {
	var now, candidates []*corev1.Pod
	missing := 0
	for _, n := range pairs {
		switch {
		case n.more || (n.old == nil) == (n.fresh == nil):
			missing++
		case n.fresh != nil:
			if !w.available(n.fresh) {
				missing++
			}
		case !w.available(n.old):
			now = append(now, n.old)
			missing++
		default:
			candidates = append(candidates, n.old)
		}
	}
	if w.options.Without.Missing {
		missing = 0
	}
	return append(now, candidates[:min(max(most-missing, 0), len(candidates))]...)
}

// surge returns the nodes that get an updated pod beside an outdated one. These are the nodes whose outdated pod is
// unavailable, and others up to the limit. drops are outdated pods that have an available successor, or whose node is
// ineligible. If such a node's pod is available, it is dropped only if enough other pods are available.
func (w *work) surge(pairs []pair, wanted, most int) (nodes []string, drops []*corev1.Pod, err error) {
	var candidates []string
	var misplaced []*corev1.Pod
	twice, available := 0, 0
	for _, n := range pairs {
		if n.more {
			twice++
			continue
		}
		if first := n.first(); first != nil && w.available(first) {
			available++
		}
		switch {
		case n.old == nil:
		case n.fresh != nil && w.available(n.fresh):
			drops = append(drops, n.old)
		case n.fresh != nil:
			twice++
		default:
			node := w.node(n.node)
			if node == nil {
				return nil, nil, fmt.Errorf("couldn't get node for nodeName %q: node %q not found", n.node, n.node)
			}
			run, _ := fits(w.set, node, w.options)
			switch there := w.available(n.old); {
			case !run && there:
				misplaced = append(misplaced, n.old)
			case !run:
				drops = append(drops, n.old)
			case there:
				candidates = append(candidates, n.node)
			default:
				nodes = append(nodes, n.node)
			}
		}
	}
	if w.options.Without.Crowded {
		most = len(pairs)
	}
	drops = append(drops, misplaced[:min(max(available-wanted, 0), len(misplaced))]...)
	return append(nodes, candidates[:min(max(most-twice, 0), len(candidates))]...), drops, nil
}

func (n *pair) first() *corev1.Pod {
	if n.old != nil {
		return n.old
	}
	return n.fresh
}

func (w *work) node(name string) *corev1.Node {
	for _, node := range w.nodes {
		if node.Name == name {
			return node
		}
	}
	return nil
}

// burst is the maximum number of pods that one reconcile creates, and also the maximum number that it deletes.
const burst = 250

// scale creates a pod for each given node and deletes the given pods. The next reconcile checks the result.
func (w *work) scale(ctx context.Context, nodes []string, victims []*corev1.Pod) error {
	nodes, victims = nodes[:min(len(nodes), burst)], victims[:min(len(victims), burst)]
	keys := make([]string, len(victims))
	var adopted []string
	for i, p := range victims {
		if keys[i] = routing.Key(p); !metav1.IsControlledBy(p, w.set) {
			adopted = append(adopted, keys[i])
		}
	}
	w.expected.Expect(w.key, w.set.UID, len(nodes), append([]string(nil), keys...), adopted...)
	return utilerrors.NewAggregate(append(w.create(ctx, nodes), w.delete(ctx, victims, keys)...))
}

// create creates the pods in batches of 1, 2, 4 and so on, so few requests fail if the server refuses the template.
// Failed and skipped creations are no longer expected.
func (w *work) create(ctx context.Context, nodes []string) (errs []error) {
	tried := 0
	for batch := 1; tried < len(nodes) && len(errs) == 0; batch *= 2 {
		for end := min(tried+batch, len(nodes)); tried < end; tried++ {
			obj, err := w.env.Client.Create(ctx, w.newPod(nodes[tried]))
			switch {
			case err == nil && !w.bySelector():
				w.expected.Made(w.key, routing.Key(obj.(metav1.Object)))
			case err == nil:
			case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
				w.expected.Created(w.key) // every create would be refused, so the caller need not retry
			default:
				w.expected.Created(w.key)
				errs = append(errs, err)
			}
		}
	}
	for range len(nodes) - tried {
		w.expected.Created(w.key)
	}
	w.expected.Answered(w.key)
	return errs
}

// newPod returns a pod of the template for a node. From the era controllerref on, the pod has a ControllerRef (LAW-1).
func (w *work) newPod(node string) *corev1.Pod {
	owner := metav1.NewControllerRef(w.set, Kind)
	if w.bySelector() || w.options.Without.TakeOwned {
		owner = nil
	}
	p := pod.FromTemplate(&w.set.Spec.Template, w.set, owner)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	switch w.options.Era {
	case Current:
		p.Spec.Tolerations = tolerations(&p.Spec)
		p.Labels[appsv1.ControllerRevisionHashLabelKey] = w.hash
		bindTo(&p.Spec, node)
	default:
		p.Spec.NodeName = node
	}
	if number := templateGeneration(w.set); number != "" && !w.bySelector() {
		p.Labels[generationLabel] = number
	}
	return p
}

// delete deletes pods. From the era controllerref on, it sends the uid, so a new pod with the same name survives
// (EXACT-4). Upstream sends only the name (RULES E56). A missing pod counts as deleted.
func (w *work) delete(ctx context.Context, victims []*corev1.Pod, keys []string) (errs []error) {
	for i, p := range victims {
		err := w.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name,
			w.only(p.ObjectMeta, w.options.Without.VictimUID))
		if err == nil {
			continue
		}
		w.expected.Deleted(w.key, keys[i]) // the deletion failed, so no event will show it
		if !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errs
}

// only returns delete options with the uid as precondition. The precondition is omitted with any, and before
// ControllerRef.
func (w *work) only(meta metav1.ObjectMeta, any bool) metav1.DeleteOptions {
	if any || w.bySelector() {
		return metav1.DeleteOptions{}
	}
	return metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &meta.UID}}
}
