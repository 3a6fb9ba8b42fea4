package generated_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// rollsBack: a Deployment of strategy Recreate with a rollback request first gets the ReplicaSet of its present
// template, in full size.
func rollsBack(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	d, is := r.SawFor.(*appsv1.Deployment)
	rs, made := r.After.(*appsv1.ReplicaSet)
	return is && made && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && r.Before == nil &&
		d.Annotations["deprecated.deployment.rollback.to"] != "" && *rs.Spec.Replicas == *d.Spec.Replicas
}

// hashEmptied: a user emptied the hash label of the set's newest revision, as of the creation of the pod without a
// hash.
func hashEmptied(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	pod, _ := r.After.(*corev1.Pod)
	owner, made := w.ownerAt(b), b.Record
	if pod == nil || pod.Labels[appsv1.ControllerRevisionHashLabelKey] != "" {
		// A pod beside it, or one that a revision is taken from.
		other, _ := w.storedAt(b.Record).find(func(o stored) bool {
			return o.ref.Kind == "Pod" && strings.Contains(b.Text, o.ref.String()) && controls(owner, o.Object) &&
				o.GetLabels()[appsv1.ControllerRevisionHashLabelKey] == ""
		}).(*corev1.Pod)
		if other == nil {
			return false
		}
		made = w.madeAt(other.UID)
	}
	newest := w.goesBy(owner, made)
	return newest != nil && newest.Labels[appsv1.ControllerRevisionHashLabelKey] == "" &&
		anyOf(w.commits(0, made), func(_ int, r *sim.Record) bool {
			return r.Process == law.User && is(r.After, newest.UID) &&
				object(r.After).GetLabels()[appsv1.ControllerRevisionHashLabelKey] == ""
		})
}

// goesBy returns the revision of a set's new pod: the one found under the name that it wanted to create, or the newest.
// A released revision is found the same way, and its label counts.
func (w *world) goesBy(owner types.UID, made int) (newest *appsv1.ControllerRevision) {
	for i, r := range w.records(w.begun(made), made) {
		if rev, _ := r.After.(*appsv1.ControllerRevision); r.Op == sim.Read && r.Process == w.subject.name &&
			r.Worker == w.record(made).Worker && rev != nil && anyOf(w.records(w.begun(made), i),
			func(_ int, c *sim.Record) bool {
				return c.Op == sim.Refusal && c.Process == r.Process && c.Verb == "create" && c.Object.Name == rev.Name
			}) {
			return rev
		}
	}
	for _, o := range w.storedAt(made) {
		rev, _ := o.Object.(*appsv1.ControllerRevision)
		if rev != nil && (newest == nil || rev.Revision > newest.Revision) &&
			anyOf(w.commits(0, made), func(_ int, r *sim.Record) bool {
				return is(r.After, rev.UID) && controls(owner, r.After)
			}) {
			newest = rev
		}
	}
	return newest
}

func (w *world) madeAt(uid types.UID) int {
	for i, r := range w.commits(0, w.World.History.Len()) {
		if is(r.After, uid) {
			return i
		}
	}
	return 0
}

// staleClaim: a claim of the first missing pod belongs to an earlier pod of the name. In a parallel set that is so for
// every missing pod.
func staleClaim(w *world, b *law.Violation) bool {
	set, _ := w.about(b).(*appsv1.StatefulSet)
	if set == nil {
		return false
	}
	collects := w.Cluster.Process("garbagecollector") != nil
	first := 0
	if o := set.Spec.Ordinals; o != nil {
		first = int(o.Start)
	}
	all, without := w.storedAt(b.Record), 0
	for n := first; n < first+int(*set.Spec.Replicas); n++ {
		name := set.Name + "-" + strconv.Itoa(n)
		if o := all.at("Pod", set.Namespace, name); o != nil && controls(set.UID, o) {
			continue
		}
		without++
		if !isStale(all, set, n, collects) {
			return without > 1 && set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
		}
	}
	return without > 0
}

// isStale reports whether a claim that goes with a scaled-down pod belongs to another pod of the name, which is not the
// set's, and stays.
func isStale(all storedAt, set *appsv1.StatefulSet, ordinal int, collects bool) bool {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || policy.WhenScaled != appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		return false
	}
	pod := set.Name + "-" + strconv.Itoa(ordinal)
	return slices.ContainsFunc(set.Spec.VolumeClaimTemplates, func(t corev1.PersistentVolumeClaim) bool {
		claim := all.at("PersistentVolumeClaim", set.Namespace, t.Name+"-"+pod)
		return claim != nil && slices.ContainsFunc(claim.GetOwnerReferences(), func(ref metav1.OwnerReference) bool {
			other := all.with(ref.UID)
			stays := other != nil || !collects || going(claim)
			return ref.Kind == "Pod" && ref.Name == pod && stays && (other == nil || !controls(set.UID, other))
		})
	})
}

// crowded: a Service selects more than a hundred pods, and has at most the slices that they fill, per address family.
func crowded(w *world, b *law.Violation) bool {
	all, owner := w.storedAt(b.Record), w.ownerAt(b)
	svc, _ := all.with(owner).(*corev1.Service)
	if svc == nil {
		return false
	}
	have, families := 0, max(len(svc.Spec.IPFamilies), 1)
	for _, o := range all {
		l := o.GetLabels() // one that was relabelled it does not know any more
		if o.ref.Kind == "EndpointSlice" && controls(owner, o.Object) &&
			l[discoveryv1.LabelServiceName] == svc.Name && l[discoveryv1.LabelManagedBy] != "" {
			have++
		}
	}
	if object(w.record(b.Record).After) != nil {
		have++ // the one that is made
	}
	pods := selected(all, svc)
	return pods > 100 && have >= families && have <= families*((pods+99)/100)
}

func selected(all storedAt, svc *corev1.Service) (pods int) {
	for _, o := range all {
		if o.ref.Kind == "Pod" && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(o.GetLabels())) {
			pods++
		}
	}
	return pods
}

// The annotations with the Deployment's size at the last scaling of a ReplicaSet.
const (
	desiredPods = "deployment.kubernetes.io/desired-replicas"
	mostPods    = "deployment.kubernetes.io/max-replicas"
)

// shares: in the same reconcile, a ReplicaSet annotated with another size of the Deployment was written before, and
// this one got its share by the earlier maximum of pods, or by the Deployment's status without that.
func shares(w *world, b *law.Violation) bool {
	d, was, rs := w.scales(b)
	if d == nil || rs == nil || !someResized(w, b) {
		return false
	}
	before, most := annotated(was, mostPods), annotated(rs, mostPods)
	if before <= 0 {
		before = int(d.Status.Replicas)
	}
	return before > 0 && *rs.Spec.Replicas ==
		int32(math.Round(float64(int(*was.Spec.Replicas)*most)/float64(before)))
}

// scales returns the Deployment in a violation, and its scaled ReplicaSet before and after.
func (w *world) scales(b *law.Violation) (d *appsv1.Deployment, was, is *appsv1.ReplicaSet) {
	r := w.record(b.Record)
	d, _ = r.SawFor.(*appsv1.Deployment)
	was, _ = r.Before.(*appsv1.ReplicaSet)
	if is, _ = r.After.(*appsv1.ReplicaSet); was == nil {
		return d, nil, nil
	}
	return d, was, is
}

// annotated returns a number from an annotation, or -1.
func annotated(rs *appsv1.ReplicaSet, annotation string) int {
	n, err := strconv.ParseUint(rs.Annotations[annotation], 10, 31)
	if err != nil {
		return -1
	}
	return int(n)
}

// recounted: the other ReplicaSet of the template had not been shown when the reconcile began. Since its creation a
// user changed the collision count, which changes names, and none was created since.
func recounted(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	other := w.beside(b)
	if other == "" || r.Before != nil || anyOf(w.shown(0, w.begun(b.Record)), func(_ int, d *sim.Record) bool {
		return is(d.After, other)
	}) {
		return false
	}
	return anyOf(w.commits(w.madeAt(other), b.Record), func(i int, c *sim.Record) bool {
		return w.changesCount(c, types.UID(r.For.UID)) &&
			!anyOf(w.commits(i, b.Record), func(_ int, c *sim.Record) bool {
				return c.Process == w.subject.name && c.Object.Kind == "ReplicaSet" && c.Before == nil &&
					controls(types.UID(r.For.UID), c.After)
			})
	})
}

// changesCount reports whether a user changed a Deployment's collision count.
func (w *world) changesCount(c *sim.Record, owner types.UID) bool {
	was, _ := c.Before.(*appsv1.Deployment)
	now, _ := c.After.(*appsv1.Deployment)
	count := func(n *int32) int32 {
		if n == nil {
			return 0
		}
		return *n
	}
	return c.Process == law.User && was != nil && now != nil && now.UID == owner &&
		count(was.Status.CollisionCount) != count(now.Status.CollisionCount)
}

// beside returns the other object of the same identity in a violation.
func (w *world) beside(b *law.Violation) types.UID {
	_, text, _ := strings.Cut(b.Text, ", as ")
	if o := w.storedAt(b.Record).named(strings.TrimSuffix(text, " is")); o != nil {
		return o.GetUID()
	}
	return ""
}

// freedWhileAdopting: when the reconcile began, the deleted pod was shown as the owner's. It adopted another pod first;
// only then an event showed that a user had taken the first away.
func freedWhileAdopting(w *world, b *law.Violation) bool {
	r, began := w.record(b.Record), w.begun(b.Record)
	uid, owner := object(r.Before).GetUID(), types.UID(r.For.UID)
	mine, freed := false, false
	for i, d := range w.records(0, b.Record) {
		if d.Op != sim.Delivery || d.Process != r.Process || !is(d.After, uid) {
			continue
		}
		if i < began {
			mine = controls(owner, d.After)
		} else {
			freed = freed || !controls(owner, d.After)
		}
	}
	return strings.HasPrefix(r.Verb, "delete") && mine && freed &&
		anyOf(w.commits(began, b.Record), func(_ int, c *sim.Record) bool {
			return c.Process == r.Process && c.Object.Kind == "Pod" && !controls(owner, c.Before) &&
				controls(owner, c.After)
		})
}

// endedAsRead: the pods that are missing had ended in the cache when the reconcile began. It adopted and deleted them,
// though a user had made them run again.
func endedAsRead(w *world, b *law.Violation) bool {
	r, began, n := w.record(b.Record), w.begun(b.Record), 0
	left, wants := shortage(b)
	for _, c := range w.commits(began, b.Record+1) {
		if c.Process == r.Process && c.Object.Kind == "Pod" && strings.HasPrefix(c.Verb, "delete") &&
			!going(object(c.Before)) && w.ranAgain(object(c.Before).GetUID(), b.Record) {
			n++
		}
	}
	return w.ranAgain(object(r.Before).GetUID(), b.Record) && n >= wants-left
}

// ranAgain reports whether a pod had ended in the cache when a reconcile began, and ran by the answer to its adoption.
func (w *world) ranAgain(uid types.UID, record int) bool {
	r, began, last := w.record(record), w.begun(record), (*corev1.Pod)(nil)
	for _, d := range w.shown(0, began) {
		if is(d.After, uid) {
			last, _ = d.After.(*corev1.Pod)
		}
	}
	return last != nil && ended(last) && anyOf(w.commits(began, record), func(_ int, c *sim.Record) bool {
		owner := types.UID(r.For.UID)
		return is(c.After, uid) && c.Process == r.Process && !controls(owner, c.Before) && controls(owner, c.After) &&
			!ended(c.After.(*corev1.Pod))
	})
}

// shortage returns how many pods are left and wanted, from a violation's text.
func shortage(b *law.Violation) (left, wants int) {
	var owner string
	if n, _ := fmt.Sscanf(b.Text, "leaves %s with %d, it wants %d", &owner, &left, &wants); n != 3 {
		return 0, math.MaxInt
	}
	return left, wants
}

// expiredDeletions: the controller deleted the missing pods more than five minutes ago, and no event showed it.
func expiredDeletions(w *world, b *law.Violation) bool {
	left, wants := shortage(b)
	return w.unseenDeletions(b) >= wants-left
}

func (w *world) unseenDeletions(b *law.Violation) (n int) {
	owner := w.ownerAt(b)
	for i, r := range w.commits(0, b.Record) {
		if w.expects(r, owner) && r.Before != nil && w.record(b.Record).At-r.At >= 5*time.Minute &&
			!w.observed(i, b.Record, owner) {
			n++
		}
	}
	return n
}

// someResized: a ReplicaSet annotated with another size of the Deployment was written before in the same reconcile.
func someResized(w *world, b *law.Violation) bool {
	d, was, _ := w.scales(b)
	return d != nil && was != nil && d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType &&
		anyOf(w.commits(w.begun(b.Record), b.Record), func(_ int, c *sim.Record) bool {
			rs, _ := c.Before.(*appsv1.ReplicaSet)
			return rs != nil && c.Process == w.subject.name && controls(d.UID, rs) && *rs.Spec.Replicas > 0 &&
				annotated(rs, desiredPods) >= 0 && annotated(rs, desiredPods) != int(*d.Spec.Replicas)
		})
}
