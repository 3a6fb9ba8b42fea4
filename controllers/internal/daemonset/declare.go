package daemonset

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/placement"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/law"
)

// identity returns the node on which a pod runs, or for which it was created (EXACT-3).
func identity(obj runtime.Object) string {
	if p, ok := obj.(*corev1.Pod); ok {
		return placement.Target(p)
	}
	return ""
}

// mayDuplicate reports whether a node may have both pods: the set has maxSurge, and the pods have different templates.
func mayDuplicate(owner, a, b runtime.Object) bool {
	p, ok := a.(*corev1.Pod)
	q, fine := b.(*corev1.Pod)
	return ok && fine && surges(owner.(*appsv1.DaemonSet)) && p.Labels[hashLabel] != q.Labels[hashLabel]
}

func active(obj runtime.Object) bool {
	p, ok := obj.(*corev1.Pod)
	return ok && !pod.Ended(p)
}

// onEachNode is the check of the invariant one-on-each-node. The deletion of a node enqueues no set. So a pod that
// waits for a deleted node is reported only after a later reconcile of its set.
func onEachNode(f *law.Facts) string {
	what := misplaced(f.Owner, f.Dependents, f.All)
	if what == "" && f.Reconciled {
		if what = waitsForMissingNode(f.Owner, f.Dependents, f.All); what != "" {
			what += ", and was looked at since"
		}
	}
	if what == "" {
		return ""
	}
	return "has " + what
}

// misplaced describes how a set violates the invariant one-on-each-node, or returns "". It reports a node that lacks
// its pod, has too many pods, or has a pod that may not stay. It also reports a status that counts too many nodes. An
// unbound pod that may not stay is not reported, because node events do not affect it. Missing nodes are not checked.
func misplaced(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string {
	set := owner.(*appsv1.DaemonSet)
	if selector(set) == nil {
		return "" // a set without a usable selector is not reconciled
	}
	if have, says := holds(own), int(set.Status.CurrentNumberScheduled+set.Status.NumberMisscheduled); says > have {
		return fmt.Sprintf("pods on %d nodes, and counts %d in its status", have, says)
	}
	for _, obj := range all(nodeKind.Kind) {
		node := obj.(*corev1.Node)
		run, stay := fits(set, node, &Options{})
		var have []runtime.Object
		leaving := false
		for _, p := range own {
			if identity(p) != node.Name {
				continue
			}
			switch {
			case dying(p.(*corev1.Pod)):
				leaving = true
			case !active(p):
			case !stay && p.(*corev1.Pod).Spec.NodeName != "":
				return "one on " + node.Name + ", which may not stay"
			default:
				have = append(have, p)
			}
		}
		switch {
		case run && len(have) == 0 && !leaving:
			return "none on " + node.Name
		case len(have) > 2 || len(have) == 2 && !mayDuplicate(owner, have[0], have[1]):
			return "more than one on " + node.Name
		}
	}
	return ""
}

// waitsForMissingNode returns a description of a pod that waits for a missing node, or "". No event leads to the pod's
// deletion, but the set's next reconcile deletes it (RULES G73).
func waitsForMissingNode(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string {
	if selector(owner) == nil {
		return ""
	}
	for _, obj := range own {
		p, ok := obj.(*corev1.Pod)
		if !ok || dying(p) || !active(p) || p.Spec.NodeName != "" || identity(p) == "" {
			continue
		}
		if !slices.ContainsFunc(all(nodeKind.Kind), func(n runtime.Object) bool {
			return n.(*corev1.Node).Name == identity(p)
		}) {
			return "one that waits for node " + identity(p) + ", which is gone"
		}
	}
	return ""
}

func holds(own []runtime.Object) int {
	nodes := map[string]bool{}
	for _, obj := range own {
		if p, ok := obj.(*corev1.Pod); ok && identity(p) != "" && !(pod.Ended(p) && dying(p)) {
			nodes[identity(p)] = true
		}
	}
	return len(nodes)
}

// retries returns the backoff key of a failed pod, with the set's observed generation and the node: "3 on node-1". It
// returns "" for pods that are deleted without backoff: outdated pods, and pods on ineligible nodes.
func retries(owner, obj runtime.Object, all func(kind string) []runtime.Object) string {
	set := owner.(*appsv1.DaemonSet)
	p, ok := obj.(*corev1.Pod)
	number := templateGeneration(set)
	if !ok || p.Status.Phase != corev1.PodFailed || number == "" || p.Labels[generationLabel] != number {
		return ""
	}
	for _, obj := range all(nodeKind.Kind) {
		node := obj.(*corev1.Node)
		if _, stay := fits(set, node, &Options{}); stay && node.Name == identity(p) {
			return fmt.Sprintf("%d on %s", set.Status.ObservedGeneration, node.Name)
		}
	}
	return ""
}

// lacks is the check of the invariant needed-objects-exist. It describes a written pod whose revision does not exist. A
// revision of another owner is enough if it has the expected name (RULES G72).
func lacks(f *law.Facts) string {
	set := f.Owner.(*appsv1.DaemonSet)
	p, ok := f.After.(*corev1.Pod)
	if !ok {
		return ""
	}
	hash := p.Labels[hashLabel]
	if hash == "" {
		return "the pod has no revision"
	}
	for _, obj := range f.All(history.Kind.Kind) {
		r := obj.(*appsv1.ControllerRevision)
		if r.Namespace == set.Namespace && r.DeletionTimestamp == nil && r.Labels[hashLabel] == hash &&
			(metav1.IsControlledBy(r, set) || r.Name == set.Name+"-"+hash) {
			return ""
		}
	}
	return "ds/" + set.Name + " has no revision " + hash
}

// exceedsBounds is the check of the invariant stay-within-bounds. It describes how the deletion of a pod, or a creation
// beside another pod, exceeds the bounds of an update. An unavailable pod, or one on an ineligible node, may be
// deleted.
func exceedsBounds(f *law.Facts) string {
	l := newLook(f.Owner.(*appsv1.DaemonSet), f.Dependents, f.Now, f.All(nodeKind.Kind))
	was, _ := f.Before.(*corev1.Pod)
	is, _ := f.After.(*corev1.Pod)
	switch {
	case was != nil && f.After == nil && pod.Active(was) && l.stay[identity(was)] && l.available(was):
		return l.deprives(was)
	case is != nil && f.Before == nil:
		return l.crowds(is)
	}
	return ""
}

// look holds the pods and nodes of a set. The bounds of an update depend on them.
type look struct {
	set  *appsv1.DaemonSet
	now  time.Time
	on   map[string][]*corev1.Pod // the pods of each node that are not terminating
	run  map[string]bool          // the nodes that should have a pod
	stay map[string]bool          // the nodes whose pods may stay
}

func newLook(set *appsv1.DaemonSet, pods []runtime.Object, now time.Time, nodes []runtime.Object) *look {
	l := &look{set: set, now: now, on: map[string][]*corev1.Pod{}, run: map[string]bool{}, stay: map[string]bool{}}
	for _, obj := range nodes {
		node := obj.(*corev1.Node)
		run, stay := fits(set, node, &Options{})
		if run {
			l.run[node.Name] = true
		}
		l.stay[node.Name] = stay
	}
	for _, obj := range pods {
		node := identity(obj)
		if node == "" { // a revision, or a pod without a node
			continue
		}
		if p := obj.(*corev1.Pod); !dying(p) {
			l.on[node] = append(l.on[node], p)
		}
	}
	return l
}

func (l *look) available(p *corev1.Pod) bool {
	return pod.Available(p, l.set.Spec.MinReadySeconds, l.now)
}

// bounds returns how many nodes may have two pods, and how many may be without an available pod. Percentages refer to
// l.run.
func (l *look) bounds() (surge, unavailable int) {
	rolling := l.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		return 0, 1
	}
	of := func(n *intstr.IntOrString) int { // 0 if the value is missing or cannot be parsed
		scaled, _ := intstr.GetScaledValueFromIntOrPercent(n, len(l.run), true)
		return scaled
	}
	surge, unavailable = of(rolling.MaxSurge), of(rolling.MaxUnavailable)
	if surge+unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// deprives describes why the available pod p is deleted too early. With the strategy OnDelete, the last pod of a node
// must stay. With surge, the node needs another pod that is available or has the template of p. Without surge, if p is
// alone on its node, fewer than maxUnavailable of the other nodes may lack their available pod.
func (l *look) deprives(p *corev1.Pod) string {
	node := identity(p)
	surge, most := l.bounds()
	switch beside := l.on[node]; {
	case l.set.Spec.UpdateStrategy.Type != appsv1.RollingUpdateDaemonSetStrategyType:
		if len(beside) == 0 {
			return "deleted, though its set replaces none by itself"
		}
	case surge > 0 && l.run[node]:
		for _, q := range beside {
			if l.available(q) || q.Labels[hashLabel] == p.Labels[hashLabel] {
				return ""
			}
		}
		return "leaves none that is available on " + node
	case surge == 0 && len(beside) == 0:
		missing := 0
		for name := range l.run { //detcheck:ordered a sum
			if name != node && !l.one(name) {
				missing++
			}
		}
		if missing >= most {
			return fmt.Sprintf("makes %d nodes unavailable, at most %d may be", missing+1, most)
		}
	}
	return ""
}

func (l *look) one(node string) bool { return len(l.on[node]) == 1 && l.available(l.on[node][0]) }

// crowds describes that p is a new pod beside an available pod, and now more than maxSurge nodes have two pods.
func (l *look) crowds(p *corev1.Pod) string {
	node := identity(p)
	if surge, _ := l.bounds(); surge > 0 && l.both(node, p) {
		n := 1
		for name := range l.run { //detcheck:ordered a sum
			if name != node && len(l.on[name]) == 2 && (l.both(name, l.on[name][0]) || l.both(name, l.on[name][1])) {
				n++
			}
		}
		if n > surge {
			return fmt.Sprintf("puts two on %d nodes, at most %d may have them", n, surge)
		}
	}
	return ""
}

// both reports whether p is not available and its node has an available pod of another template.
func (l *look) both(node string, p *corev1.Pod) bool {
	for _, q := range l.on[node] {
		if l.available(q) && !l.available(p) && q.Labels[hashLabel] != p.Labels[hashLabel] {
			return true
		}
	}
	return false
}
