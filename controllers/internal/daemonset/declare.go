package daemonset

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/placement"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/law"
)

// identity is the node of a pod (EXACT-3).
func identity(obj runtime.Object) string {
	if p, ok := obj.(*corev1.Pod); ok {
		return placement.Target(p)
	}
	return ""
}

// twins: a set that surges may have two pods on a node, of different templates.
func twins(owner, a, b runtime.Object) bool {
	p, ok := a.(*corev1.Pod)
	q, fine := b.(*corev1.Pod)
	return ok && fine && surges(owner.(*appsv1.DaemonSet)) && p.Labels[hashLabel] != q.Labels[hashLabel]
}

func active(obj runtime.Object) bool {
	p, ok := obj.(*corev1.Pod)
	return ok && !pod.Ended(p)
}

// onEachNode is KIND-DS. What is left of a node that is gone wakes nobody: it is wrong where the set was looked at since.
func onEachNode(f *law.Facts) string {
	what := amiss(f.Owner, f.Dependents, f.All)
	if what == "" && f.Reconciled {
		if what = neglects(f.Owner, f.Dependents, f.All); what != "" {
			what += ", and was looked at since"
		}
	}
	if what == "" {
		return ""
	}
	return "has " + what
}

// amiss says on which node a set has not the one pod that it should have, or one that
// may not stay, and whether its status counts nodes on which it has none (KIND-DS). Only
// a pod that is bound has to leave: until then no event on the node is compared with
// it. What is on a node that is gone is not its concern.
func amiss(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string {
	set := owner.(*appsv1.DaemonSet)
	if selector(set) == nil {
		return "" // it is left alone
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
		case len(have) > 2 || len(have) == 2 && !twins(owner, have[0], have[1]):
			return "more than one on " + node.Name
		}
	}
	return ""
}

// neglects says that a pod waits for a node that is gone: no event tells when that is so,
// but who looks at the set deletes it (RULES G73).
func neglects(owner runtime.Object, own []runtime.Object, all func(kind string) []runtime.Object) string {
	if selector(owner.(*appsv1.DaemonSet)) == nil {
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

// holds is on how many nodes there are pods, those that are being deleted included.
func holds(own []runtime.Object) int {
	nodes := map[string]bool{}
	for _, obj := range own {
		if p, ok := obj.(*corev1.Pod); ok && identity(p) != "" && !(pod.Ended(p) && dying(p)) {
			nodes[identity(p)] = true
		}
	}
	return len(nodes)
}

// retries names the node on which a pod of the current template has failed, with the template as
// the set's status counts it, where no other reason is to delete it: an outdated pod is replaced
// however often it fails, and one on a node that may not have it goes.
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

// lacks says that the revision that a pod is of is not there. One that holds the same under
// the name it would have is as good as the set's own, whoever's it is (RULES G72).
func lacks(owner, obj runtime.Object, all func(kind string) []runtime.Object) string {
	set := owner.(*appsv1.DaemonSet)
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return ""
	}
	hash := p.Labels[hashLabel]
	if hash == "" {
		return "it is of no revision"
	}
	for _, obj := range all(history.Kind.Kind) {
		r := obj.(*appsv1.ControllerRevision)
		if r.Namespace == set.Namespace && r.DeletionTimestamp == nil && r.Labels[hashLabel] == hash &&
			(metav1.IsControlledBy(r, set) || r.Name == set.Name+"-"+hash) {
			return ""
		}
	}
	return "ds/" + set.Name + " has no revision " + hash
}
