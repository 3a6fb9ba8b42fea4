package statefulset

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/invariant"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// declare sets the Contract and the owned kinds of an era. The set owns its revisions like its pods, but only pods
// count as replicas. Events on revisions enqueue no set: the next reconcile adopts a revision that lost its owner.
func declare(c *host.Controller, g Era) {
	c.Owns = []schema.GroupVersionKind{pod.Kind}
	if g == Current {
		c.Owns = append(c.Owns, history.Kind)
		c.Contract.Unwatched = []schema.GroupVersionKind{history.Kind}
		c.Contract.Invariants = []*law.Invariant{
			invariant.NeededObjects(lacks),
			{
				ID:       "tie-before-deleting",
				Sentence: "Objects that must be deleted with a dependent are tied to it before its controller deletes it.",
				When:     law.AtDelete, Check: leavesClaim,
			},
			invariant.Bounds(exceedsBounds),
		}
	}
	c.Contract.Ignores = func(owner runtime.Object) bool { return selector(owner) == nil }
	c.Contract.Selector = selector
	c.Contract.Replicas = func(owner runtime.Object) int { return unlessLeft(owner.(*appsv1.StatefulSet), wanted) }
	c.Contract.Active = func(obj runtime.Object) bool {
		p, ok := obj.(*corev1.Pod)
		return ok && !pod.Ended(p)
	}
	c.Contract.MaxUnavailable = func(owner runtime.Object) int {
		strategy := owner.(*appsv1.StatefulSet).Spec.UpdateStrategy.Type
		if g == Current && strategy == appsv1.RollingUpdateStatefulSetStrategyType {
			return 1 // the controller replaces one pod at a time
		}
		return 0
	}
	c.Contract.Identity = func(obj runtime.Object) string {
		if p, ok := obj.(*corev1.Pod); ok {
			return "number " + strconv.Itoa(ordinal(p))
		}
		return ""
	}
	c.Contract.Wanted = func(owner, obj runtime.Object) bool {
		p, ok := obj.(*corev1.Pod)
		return !ok || wants(owner.(*appsv1.StatefulSet), ordinal(p))
	}
	c.Contract.BlocksCreate = func(owner, obj runtime.Object) bool {
		p, ok := obj.(*corev1.Pod)
		return ok && (p.DeletionTimestamp != nil || pod.Ended(p) || ordered(owner.(*appsv1.StatefulSet), g) && !up(p))
	}
	c.Contract.Adoptable = func(owner, obj runtime.Object) bool {
		p, ok := obj.(*corev1.Pod)
		return !ok || member(owner.(*appsv1.StatefulSet), p.Name, &Without{})
	}
	c.Contract.Counts = counts()
	if g != Current {
		c.Contract.Counts = c.Contract.Counts[:1]
	}
}

// unlessLeft returns of(set), or -1 if the set has no valid selector.
func unlessLeft(set *appsv1.StatefulSet, of func(*appsv1.StatefulSet) int) int {
	if selector(set) == nil {
		return -1
	}
	return of(set)
}

// lacks is the check of the invariant needed-objects-exist. A pod needs its revision, and a claim for each claim
// template of the set. lacks describes one that does not exist or is terminating. With WhenScaled=Delete, a claim also
// counts as terminating if its owner is an earlier pod with this pod's name (RULES F66).
func lacks(f *law.Facts) string {
	set := f.Owner.(*appsv1.StatefulSet)
	p, ok := f.After.(*corev1.Pod)
	if !ok {
		return ""
	}
	if !slices.ContainsFunc(f.All(history.Kind.Kind), func(obj runtime.Object) bool {
		r := obj.(*appsv1.ControllerRevision)
		return r.Name == revisionOf(p) && r.Namespace == set.Namespace && r.DeletionTimestamp == nil
	}) {
		return "revision " + strconv.Quote(revisionOf(p)) + " does not exist"
	}
	for i := range set.Spec.VolumeClaimTemplates {
		name, there := claimName(set, set.Spec.VolumeClaimTemplates[i].Name, ordinal(p)), false
		for _, obj := range f.All(claimKind.Kind) {
			claim := obj.(*corev1.PersistentVolumeClaim)
			if claim.Name != name || claim.Namespace != set.Namespace {
				continue
			}
			there = true
			if claim.DeletionTimestamp != nil {
				return "pvc/" + name + " is terminating"
			} else if scaled, _ := policy(set); scaled && recreatedOwns(claim, p, pod.Kind) {
				return "the owner of pvc/" + name + " is a deleted pod"
			}
		}
		if !there {
			return "pvc/" + name + " does not exist"
		}
	}
	return ""
}

// leavesClaim is the check of the invariant tie-before-deleting. It describes a claim that should be deleted with an
// unwanted pod and that the pod does not own yet. It skips claims of other controllers, and of an earlier pod or set
// with the same name.
func leavesClaim(f *law.Facts) string {
	set := f.Owner.(*appsv1.StatefulSet)
	p, ok := f.Before.(*corev1.Pod)
	if !ok || !member(set, p.Name, &Without{}) {
		return ""
	}
	if ofPod, _ := claimOwners(set, p); !ofPod {
		return ""
	}
	for i := range set.Spec.VolumeClaimTemplates {
		name := claimName(set, set.Spec.VolumeClaimTemplates[i].Name, ordinal(p))
		for _, obj := range f.All(claimKind.Kind) {
			claim := obj.(*corev1.PersistentVolumeClaim)
			if claim.Name != name || claim.Namespace != set.Namespace || claim.DeletionTimestamp != nil ||
				recreatedOwns(claim, set, Kind) || recreatedOwns(claim, p, pod.Kind) || owner(claim, p) != nil {
				continue
			}
			if c := metav1.GetControllerOfNoCopy(claim); c == nil || c.UID == set.UID {
				return "leaves pvc/" + name + ", which must be deleted with the pod"
			}
		}
	}
	return ""
}

// counts declares the numbers of the status. currentReplicas and updatedReplicas are left out, because they depend on
// the revisions in the same status.
func counts() []law.Count {
	count := func(name string, of func(set *appsv1.StatefulSet) int, is func(*corev1.Pod) bool) law.Count {
		return law.Count{Name: name,
			Of: func(owner runtime.Object) int { return unlessLeft(owner.(*appsv1.StatefulSet), of) },
			Is: func(_, obj runtime.Object) bool {
				p, ok := obj.(*corev1.Pod)
				return ok && is(p)
			}}
	}
	return []law.Count{
		count("replicas", func(set *appsv1.StatefulSet) int { return int(set.Status.Replicas) }, exists),
		count("readyReplicas", func(set *appsv1.StatefulSet) int { return int(set.Status.ReadyReplicas) }, up),
		count("availableReplicas", func(set *appsv1.StatefulSet) int {
			if set.Spec.MinReadySeconds > 0 {
				return -1 // the number depends on the time
			}
			return int(set.Status.AvailableReplicas)
		}, up),
	}
}

// exceedsBounds is the check of the invariant stay-within-bounds. It describes why a pod is deleted or created too
// early. An ended pod may always be deleted.
func exceedsBounds(f *law.Facts) string {
	l := row{set: f.Owner.(*appsv1.StatefulSet), now: f.Now, pods: map[int]*corev1.Pod{}}
	for _, obj := range f.Dependents {
		if p, ok := obj.(*corev1.Pod); ok && p.Name == nameOf(l.set, ordinal(p)) {
			l.pods[ordinal(p)] = p
		}
	}
	was, _ := f.Before.(*corev1.Pod)
	is, _ := f.After.(*corev1.Pod)
	switch {
	case is != nil && was == nil && l.waits():
		return l.until(ordinal(is), "made")
	case was == nil || f.After != nil || pod.Ended(was) || was.Name != nameOf(l.set, ordinal(was)):
		return ""
	case wants(l.set, ordinal(was)):
		return l.replaces(ordinal(was))
	case l.waits():
		return l.gives(ordinal(was))
	}
	return ""
}

// row holds a set's pods by ordinal, without the pod that is written.
type row struct {
	set  *appsv1.StatefulSet
	now  time.Time
	pods map[int]*corev1.Pod
}

func (l *row) waits() bool { return l.set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement }

func (l *row) end() int { return first(l.set) + wanted(l.set) }

// lacking returns the first ordinal in a range without an available pod, and the number of such ordinals. It ignores
// the ordinal in the parameter but.
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

// until returns a description if a wanted pod with a lower ordinal is not available. Then the write comes too early.
func (l *row) until(number int, what string) string {
	if i, n := l.lacking(first(l.set), min(number, l.end()), -1); n > 0 {
		return fmt.Sprintf("%s while %s is not available", what, nameOf(l.set, i))
	}
	return ""
}

// replaces describes why a wanted pod is deleted too early. Either an update must not replace it, or too many pods are
// unavailable. In an ordered set all pods count, and in a parallel set those with higher ordinals.
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

// gives describes why an unwanted pod is deleted too early. It must wait for unwanted pods above it, and for wanted
// pods.
func (l *row) gives(number int) string {
	for i := range l.pods { //detcheck:ordered any number above will do
		if i > number && !wants(l.set, i) {
			return "deleted before those above it"
		}
	}
	return l.until(l.end(), "deleted")
}
