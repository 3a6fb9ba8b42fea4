package daemonset

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// oversteps describes how deleting a pod, or creating one beside another, exceeds the bounds of an update (EXACT-11).
// It ignores pods that are not available or must leave their node: these may always go.
func oversteps(owner runtime.Object, others []runtime.Object, before, after runtime.Object, now time.Time,
	all func(kind string) []runtime.Object) string {
	l := newLook(owner.(*appsv1.DaemonSet), others, now, all(nodeKind.Kind))
	was, _ := before.(*corev1.Pod)
	is, _ := after.(*corev1.Pod)
	switch {
	case was != nil && after == nil && pod.Active(was) && l.stay[identity(was)] && l.available(was):
		return l.deprives(was)
	case is != nil && before == nil:
		return l.crowds(is)
	}
	return ""
}

// look is what an update of a set depends on.
type look struct {
	set  *appsv1.DaemonSet
	now  time.Time
	on   map[string][]*corev1.Pod // by node, those that are not terminating
	run  map[string]bool          // the nodes that should have a pod
	stay map[string]bool          // ... or may keep one
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

// bounds returns how many nodes may have two pods and how many pods may be unavailable. Percentages refer to the nodes
// that should have one.
func (l *look) bounds() (surge, unavailable int) {
	rolling := l.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		return 0, 1
	}
	of := func(n *intstr.IntOrString) int { // 0 for none or an unreadable value
		scaled, _ := intstr.GetScaledValueFromIntOrPercent(n, len(l.run), true)
		return scaled
	}
	surge, unavailable = of(rolling.MaxSurge), of(rolling.MaxUnavailable)
	if surge+unavailable == 0 {
		unavailable = 1
	}
	return surge, unavailable
}

// deprives reports that deleting an available pod leaves too few. One of several on a node may always go, except for
// the last available one of a set that surges.
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

// one reports whether a node has exactly one pod, and it is available.
func (l *look) one(node string) bool { return len(l.on[node]) == 1 && l.available(l.on[node][0]) }

// crowds reports a pod created beside an available one on more nodes than may have two.
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

// both reports whether a node has an available pod of another template beside this one, which is not available.
func (l *look) both(node string, p *corev1.Pod) bool {
	for _, q := range l.on[node] {
		if l.available(q) && !l.available(p) && q.Labels[hashLabel] != p.Labels[hashLabel] {
			return true
		}
	}
	return false
}
