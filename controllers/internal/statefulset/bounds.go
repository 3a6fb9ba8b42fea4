package statefulset

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// oversteps says how deleting a pod, or making one, comes before its turn (EXACT-11). Of one that
// has ended it says nothing: that goes at any time.
func oversteps(owner runtime.Object, others []runtime.Object, before, after runtime.Object, now time.Time,
	_ func(kind string) []runtime.Object) string {
	l := row{set: owner.(*appsv1.StatefulSet), now: now, pods: map[int]*corev1.Pod{}}
	for _, obj := range others {
		if p, ok := obj.(*corev1.Pod); ok && p.Name == nameOf(l.set, ordinal(p)) {
			l.pods[ordinal(p)] = p
		}
	}
	was, _ := before.(*corev1.Pod)
	is, _ := after.(*corev1.Pod)
	switch {
	case is != nil && was == nil && l.waits():
		return l.until(ordinal(is), "made")
	case was == nil || after != nil || pod.Ended(was) || was.Name != nameOf(l.set, ordinal(was)):
		return ""
	case wants(l.set, ordinal(was)):
		return l.replaces(ordinal(was))
	case l.waits():
		return l.gives(ordinal(was))
	}
	return ""
}

// row is a set's pods by their numbers, but for the one that is written.
type row struct {
	set  *appsv1.StatefulSet
	now  time.Time
	pods map[int]*corev1.Pod
}

// waits reports whether each pod waits for those before it.
func (l *row) waits() bool { return l.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement }

// end is the number behind the last that is wanted.
func (l *row) end() int { return first(l.set) + wanted(l.set) }

// lacking is the first of some numbers of which no pod is available, and of how many none is.
func (l *row) lacking(from, to, but int) (first, n int) {
	for i := to - 1; i >= from; i-- {
		p := l.pods[i]
		if i != but && (p == nil || p.DeletionTimestamp != nil ||
			!pod.Available(p, l.set.Spec.MinReadySeconds, l.now)) {
			first, n = i, n+1
		}
	}
	return first, n
}

// until says that something happens before all pods up to a number are available.
func (l *row) until(number int, what string) string {
	if i, n := l.lacking(first(l.set), min(number, l.end()), -1); n > 0 {
		return fmt.Sprintf("%s while %s is not available", what, nameOf(l.set, i))
	}
	return ""
}

// replaces says that a wanted pod is deleted that an update leaves alone, or before the pods
// above it are available, and in an ordered set all others: but for as many as may be
// unavailable at a time.
func (l *row) replaces(number int) string {
	strategy := &l.set.Spec.UpdateStrategy
	if strategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return "deleted, though its set replaces none by itself"
	}
	most := 1
	if u := strategy.RollingUpdate; u != nil {
		if u.Partition != nil && number-first(l.set) < int(*u.Partition) {
			return fmt.Sprintf("deleted, though an update leaves the first %d alone", *u.Partition)
		}
		if n, err := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, wanted(l.set), true); err == nil {
			most = max(n, 1)
		}
	}
	from := number + 1
	if l.waits() {
		from = first(l.set)
	}
	if i, n := l.lacking(from, l.end(), number); n >= most {
		return fmt.Sprintf("deleted while %s is not available", nameOf(l.set, i))
	}
	return ""
}

// gives says that a pod that is not wanted goes before those above it, or before all that are
// wanted are available.
func (l *row) gives(number int) string {
	for i := range l.pods { //detcheck:ordered any number above will do
		if i > number && !wants(l.set, i) {
			return "deleted before those above it"
		}
	}
	return l.until(l.end(), "deleted")
}
