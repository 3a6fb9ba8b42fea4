package generated_test

import (
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// rollsBack: a Deployment that replaces all pods at once and is asked to roll back is given the ReplicaSet of the
// template that it has before that, as large as it is to be itself.
func rollsBack(w *world, b *law.Breach) bool {
	r := w.record(b.Record)
	d, is := r.SawFor.(*appsv1.Deployment)
	rs, made := r.After.(*appsv1.ReplicaSet)
	return is && made && d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && r.Before == nil &&
		d.Annotations["deprecated.deployment.rollback.to"] != "" && *rs.Spec.Replicas == *d.Spec.Replicas
}

// hashEmptied: a user has emptied the label by which the pods of a revision of the set's are known, and that is what
// the set's newest says, or did when the pod was made that the verdict is about and that says none.
func hashEmptied(w *world, b *law.Breach) bool {
	r := w.record(b.Record)
	pod, _ := r.After.(*corev1.Pod)
	owner, made := w.ownerAt(b), b.Record
	if pod == nil || pod.Labels[appsv1.ControllerRevisionHashLabelKey] != "" {
		// One beside it, or one that a revision is taken from.
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

// goesBy is the revision by which a set's pod is made: the one that the sync has found by the name that it wanted to
// make one by, or the newest. One that it has let go it finds again so, and goes by its label.
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

// madeAt is the record at which an object was created.
func (w *world) madeAt(uid types.UID) int {
	for i, r := range w.commits(0, w.World.History.Len()) {
		if is(r.After, uid) {
			return i
		}
	}
	return 0
}

// staleClaim: the claim of the first pod that the set is without, or, where it makes all at once, of each of them,
// belongs to another pod of the name; and it is without some.
func staleClaim(w *world, b *law.Breach) bool {
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

// isStale: a claim of a set's pod, which goes with that when the set is scaled down, belongs to another pod of the name
// that is none of the set's, and stays: the pod is there, or nobody collects, or the claim waits for somebody.
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

// crowded: a hundred pods and more have the labels that the Service selects, and it has no more slices than they
// fill, of each family of addresses, and no fewer than one.
func crowded(w *world, b *law.Breach) bool {
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

// selected is how many pods have the labels that a Service selects.
func selected(all storedAt, svc *corev1.Service) (pods int) {
	for _, o := range all {
		if o.ref.Kind == "Pod" && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(o.GetLabels())) {
			pods++
		}
	}
	return pods
}
