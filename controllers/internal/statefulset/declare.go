package statefulset

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// declare tells the laws what a set asks for. Its revisions are its own as its pods
// are, but not what it asks for: they don't count. Nobody is woken by them: one that
// lost its owner is adopted when the set is synced for something else.
func declare(c *host.Controller, g Era) {
	c.Owns = []schema.GroupVersionKind{pod.Kind}
	if g == Current {
		c.Owns = append(c.Owns, history.Kind)
		c.Contract.Unwatched = []schema.GroupVersionKind{history.Kind}
		c.Contract.Invariants = []*law.Invariant{
			{ID: "EXACT-9", When: law.BeforeCreate, Check: func(f *law.Facts) string {
				return lacks(f.Owner, f.After, f.All)
			}},
			{ID: "EXACT-10", When: law.AtDelete, Check: func(f *law.Facts) string {
				if what := strands(f.Owner, f.Before, f.All); what != "" {
					return "leaves " + what + " behind, which is to go with it"
				}
				return ""
			}},
			{ID: "EXACT-11", When: law.AtWrite, Check: func(f *law.Facts) string {
				return oversteps(f.Owner, f.Dependents, f.Before, f.After, f.Now, f.All)
			}},
		}
	}
	c.Contract.Ignores = func(owner runtime.Object) bool { return selector(owner.(*appsv1.StatefulSet)) == nil }
	c.Contract.Selector = func(owner runtime.Object) labels.Selector { return selector(owner.(*appsv1.StatefulSet)) }
	c.Contract.Replicas = func(owner runtime.Object) int { return unlessLeft(owner.(*appsv1.StatefulSet), wanted) }
	c.Contract.Active = func(obj runtime.Object) bool {
		p, ok := obj.(*corev1.Pod)
		return ok && !pod.Ended(p)
	}
	c.Contract.MaxUnavailable = func(owner runtime.Object) int {
		strategy := owner.(*appsv1.StatefulSet).Spec.UpdateStrategy.Type
		if g == Current && strategy == appsv1.RollingUpdateStatefulSetStrategyType {
			return 1 // it takes one at a time
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

// unlessLeft is a number of a set; -1 for a set that is left alone, as nobody knows what it selects.
func unlessLeft(set *appsv1.StatefulSet, of func(*appsv1.StatefulSet) int) int {
	if selector(set) == nil {
		return -1
	}
	return of(set)
}

// lacks says which of what a pod rests on is not there to stay: the revision that it is of,
// and the claims that it mounts by the set's templates. Where claims go with a pod that is
// not wanted, one of an earlier pod of the name is about to (RULES F66).
func lacks(owner, obj runtime.Object, all func(kind string) []runtime.Object) string {
	set := owner.(*appsv1.StatefulSet)
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return ""
	}
	if !slices.ContainsFunc(all(history.Kind.Kind), func(obj runtime.Object) bool {
		r := obj.(*appsv1.ControllerRevision)
		return r.Name == revisionOf(p) && r.Namespace == set.Namespace && r.DeletionTimestamp == nil
	}) {
		return "there is no revision " + strconv.Quote(revisionOf(p))
	}
	for i := range set.Spec.VolumeClaimTemplates {
		name, there := claimName(set, set.Spec.VolumeClaimTemplates[i].Name, ordinal(p)), false
		for _, obj := range all(claimKind.Kind) {
			claim := obj.(*corev1.PersistentVolumeClaim)
			if claim.Name != name || claim.Namespace != set.Namespace {
				continue
			}
			scaled, _ := policy(set)
			if claim.DeletionTimestamp != nil || scaled && namesakeOwns(claim, p, pod.Kind) {
				return "pvc/" + name + " is going"
			}
			there = true
		}
		if !there {
			return "there is no pvc/" + name
		}
	}
	return ""
}

// strands says which claim is to go with a pod that is not wanted and is not the pod's yet.
// One that somebody else controls, or an earlier pod or set of the name, is left alone.
func strands(parent, obj runtime.Object, all func(kind string) []runtime.Object) string {
	set := parent.(*appsv1.StatefulSet)
	p, ok := obj.(*corev1.Pod)
	if !ok || !member(set, p.Name, &Without{}) {
		return ""
	}
	if ofPod, _ := heirs(set, p); !ofPod {
		return ""
	}
	for i := range set.Spec.VolumeClaimTemplates {
		name := claimName(set, set.Spec.VolumeClaimTemplates[i].Name, ordinal(p))
		for _, obj := range all(claimKind.Kind) {
			claim := obj.(*corev1.PersistentVolumeClaim)
			if claim.Name != name || claim.Namespace != set.Namespace || claim.DeletionTimestamp != nil ||
				namesakeOwns(claim, set, Kind) || namesakeOwns(claim, p, pod.Kind) || owner(claim, p) != nil {
				continue
			}
			if c := metav1.GetControllerOfNoCopy(claim); c == nil || c.UID == set.UID {
				return "pvc/" + name
			}
		}
	}
	return ""
}

// counts declares which pods the numbers in a status count. How many are of which
// revision is not said: it depends on what the revisions are in that status.
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
				return -1 // it depends on when one looks
			}
			return int(set.Status.AvailableReplicas)
		}, up),
	}
}
