package generated_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// listedByUser: at least as many entries of a CronJob's active list as it counts too many are duplicates, or name a Job
// that is not its own, and a user wrote the entry or took the Job away. In a settled world that refers to the last
// reconcile.
func listedByUser(w *world, b *law.Violation) bool {
	at, r := b.Record, w.record(b.Record)
	cj, _ := r.After.(*batchv1.CronJob)
	if r.Op == sim.Settled {
		cj, _ = w.about(b).(*batchv1.CronJob)
		for ; at > 0; at-- {
			if s := w.record(at); s.Op == sim.SyncEnd && s.For.UID == string(cj.UID) {
				break
			}
		}
	}
	all, n := w.storedAt(at), 0
	for i, e := range cj.Status.Active {
		twice := slices.ContainsFunc(cj.Status.Active[:i],
			func(o corev1.ObjectReference) bool { return o.UID == e.UID })
		j := all.at("Job", e.Namespace, e.Name)
		others := j != nil && (!controls(cj.UID, j) || j.GetUID() != e.UID)
		if (twice || others) && w.listable(cj, e.UID, b.Record) {
			n++
		}
	}
	var counts, own int
	if k, _ := fmt.Sscanf(b.Text, "counts %d in its status, has been shown %d", &counts, &own); k != 2 {
		_, text, _ := strings.Cut(b.Text, " ")
		if _, err := fmt.Sscanf(text, "counts %d in its status, owns %d", &counts, &own); err != nil {
			w.t.Fatalf("%s: %v", b.Text, err)
		}
	}
	return n >= counts-own
}

// unended: the pod in the violation had ended, and a user made it run again.
func unended(w *world, b *law.Violation) bool {
	o := w.about(b)
	return o != nil && anyOf(w.commits(0, b.Record), func(_ int, r *sim.Record) bool {
		before, _ := r.Before.(*corev1.Pod)
		return is(r.After, o.GetUID()) && r.Process == law.User && before != nil && ended(before) &&
			!ended(r.After.(*corev1.Pod))
	})
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// listable reports whether a user listed the Job in the CronJob's status, or the Job was once its own.
func (w *world) listable(cj *batchv1.CronJob, job types.UID, until int) bool {
	return anyOf(w.commits(0, until), func(_ int, r *sim.Record) bool {
		written, _ := r.After.(*batchv1.CronJob)
		return is(r.After, job) && controls(cj.UID, r.After) ||
			r.Process == law.User && written != nil && written.UID == cj.UID && lists(written, job)
	})
}

// unlisted: a user created an unfinished Job of the CronJob that its status did not list.
func unlisted(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	cj := r.SawFor.(*batchv1.CronJob)
	return anyOf(w.commits(0, b.Record), func(_ int, c *sim.Record) bool {
		return c.Process == law.User && controls(cj.UID, c.After) && !lists(cj, object(c.After).GetUID()) &&
			w.storedAt(b.Record).with(object(c.After).GetUID()) != nil
	})
}

func lists(cj *batchv1.CronJob, job types.UID) bool {
	return slices.ContainsFunc(cj.Status.Active, func(o corev1.ObjectReference) bool { return o.UID == job })
}

// readForUnlisted: the CronJob was read live because of a Job that neither the cached nor the live status lists.
func readForUnlisted(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	return anyOf(w.records(w.begun(b.Record), b.Record), func(i int, read *sim.Record) bool {
		if read.Op != sim.Read || read.Process != r.Process || read.Object.Kind != "CronJob" ||
			!going(object(read.After)) {
			return false
		}
		live := read.After.(*batchv1.CronJob)
		return anyOf(w.commits(0, i), func(_ int, c *sim.Record) bool {
			return c.Object.Kind == "Job" && controls(live.UID, c.After) && !lists(live, object(c.After).GetUID()) &&
				!lists(r.SawFor.(*batchv1.CronJob), object(c.After).GetUID())
		})
	})
}

// unobserved: no event showed a creation or deletion of the last five minutes for the owner, and the watch had a gap.
func unobserved(w *world, b *law.Violation) bool {
	owner := w.ownerAt(b)
	return anyOf(w.commits(0, b.Record), func(i int, r *sim.Record) bool {
		return w.expects(r, owner) && w.record(b.Record).At-r.At <= 5*time.Minute && !w.observed(i, b.Record, owner) &&
			anyOf(w.records(i, b.Record), func(_ int, f *sim.Record) bool {
				return f.Op == sim.FaultHit && f.Process == w.subject.name && f.Verb == "relist" &&
					f.Object.Kind == "Pod"
			})
	})
}

// expired: no event showed a creation for the owner more than five minutes ago.
func expired(w *world, b *law.Violation) bool {
	owner := w.ownerAt(b)
	return anyOf(w.commits(0, b.Record), func(i int, r *sim.Record) bool {
		return w.expects(r, owner) && r.Before == nil && w.record(b.Record).At-r.At >= 5*time.Minute &&
			!w.observed(i, b.Record, owner)
	})
}

// expects reports whether the controller expects to see a commit: a pod that it created for an owner, or deleted.
func (w *world) expects(r *sim.Record, owner types.UID) bool {
	deletes := !going(object(r.Before)) && (r.After == nil || going(object(r.After)))
	return r.Process == w.subject.name && r.Object.Kind == "Pod" && r.For.UID == string(owner) &&
		(r.Before == nil || deletes)
}

// observed reports whether an event showed what a commit did to an owner's pod: a creation as the owner's pod, a
// deletion as the end of such a pod.
func (w *world) observed(commit, until int, owner types.UID) bool {
	r := w.record(commit)
	if r.Before == nil {
		uid := object(r.After).GetUID()
		return anyOf(w.shown(commit, until), func(_ int, d *sim.Record) bool {
			return is(d.After, uid) && !is(d.Before, uid) && controls(owner, d.After)
		})
	}
	uid := object(r.Before).GetUID()
	return anyOf(w.shown(commit, until), func(_ int, d *sim.Record) bool {
		return is(d.After, uid) && going(object(d.After)) && controls(owner, d.After) ||
			is(d.Before, uid) && !is(d.After, uid) && controls(owner, d.Before)
	})
}

// freedMeanwhile: in the same reconcile the controller removed its finalizer from the pod, which had no controller by
// then.
func freedMeanwhile(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	uid := object(r.Before).GetUID()
	sync := w.commits(w.begun(b.Record), b.Record)
	return strings.HasPrefix(r.Verb, "delete") && anyOf(sync, func(_ int, c *sim.Record) bool {
		return c.Process == r.Process && c.Verb == "patch" && is(c.Before, uid) &&
			!controls(types.UID(r.For.UID), c.Before) &&
			slices.Contains(object(c.Before).GetFinalizers(), batchv1.JobTrackingFinalizer)
	})
}

// endedUntracked: a pod of the Job succeeded without the finalizer.
func endedUntracked(w *world, b *law.Violation) bool {
	owner := w.ownerAt(b)
	return anyOf(w.commits(0, b.Record), func(_ int, r *sim.Record) bool {
		before, _ := r.Before.(*corev1.Pod)
		after, _ := r.After.(*corev1.Pod)
		return before != nil && after != nil && controls(owner, after) && before.Status.Phase != corev1.PodSucceeded &&
			after.Status.Phase == corev1.PodSucceeded &&
			!slices.Contains(after.Finalizers, batchv1.JobTrackingFinalizer)
	})
}

// labelledAsIts: a user's slice without a controller has the controller's labels. It is the written one, or stands in
// for a slice of the Service.
func labelledAsIts(w *world, b *law.Violation) bool {
	r := w.record(b.Record)
	if r.Op == sim.Commit {
		return isLabelled(r.Before, r.For.Name)
	}
	svc, _ := w.about(b).(*corev1.Service)
	return svc != nil && w.storedAt(b.Record).find(func(o stored) bool {
		return o.GetNamespace() == svc.Namespace && isLabelled(o.Object, svc.Name)
	}) != nil
}

func isLabelled(version any, service string) bool {
	slice, _ := version.(*discoveryv1.EndpointSlice)
	return slice != nil && metav1.GetControllerOfNoCopy(slice) == nil &&
		slice.Labels[discoveryv1.LabelServiceName] == service &&
		slice.Labels[discoveryv1.LabelManagedBy] == "endpointslice-controller.k8s.io"
}

// serviceGoes: the reconciled Service was terminating.
func serviceGoes(w *world, b *law.Violation) bool {
	svc, _ := w.record(b.Record).SawFor.(*corev1.Service)
	return svc != nil && svc.DeletionTimestamp != nil
}

// goneAsOrphan: all pods that a set counts too many were its own when they were deleted in a gap of the watch. The last
// event had shown them as orphans, so the set was not enqueued, and has not been since.
func goneAsOrphan(w *world, b *law.Violation) bool {
	var what, set string
	var counts, there int
	if n, _ := fmt.Sscanf(b.Text, "%s of %s is %d, there are %d", &what, &set, &counts, &there); n != 4 {
		return false
	}
	set = strings.TrimSuffix(set, ",")
	owner := w.storedAt(b.Record).named(set)
	return owner != nil && w.goneUnshown(owner.GetUID(), b.Record) >= counts-there
}

// goneUnshown returns the number of such pods.
func (w *world) goneUnshown(owner types.UID, until int) (n int) {
	for i, d := range w.shown(0, until) {
		if d.Object.Kind != "Pod" || d.After != nil || d.Before == nil || controls(owner, d.Before) {
			continue
		}
		uid := object(d.Before).GetUID()
		owned := anyOf(w.commits(0, i), func(_ int, c *sim.Record) bool {
			return is(c.Before, uid) && c.After == nil && controls(owner, c.Before)
		})
		synced := anyOf(w.records(i, until), func(_ int, s *sim.Record) bool {
			return s.Op == sim.SyncStart && s.Process == w.subject.name && s.For.UID == string(owner)
		})
		if owned && !synced {
			n++
		}
	}
	return n
}

// restsOnGoing: the missing revision exists as the set's own, but is terminating and held by a finalizer.
func restsOnGoing(w *world, b *law.Violation) bool {
	_, name, _ := strings.Cut(b.Text, "there is no revision ")
	return w.goingRevision(b, func(rev *appsv1.ControllerRevision) bool { return name == fmt.Sprintf("%q", rev.Name) })
}

func (w *world) goingRevision(b *law.Violation, is func(*appsv1.ControllerRevision) bool) bool {
	owner := w.ownerAt(b)
	return w.storedAt(b.Record).find(func(o stored) bool {
		rev, _ := o.Object.(*appsv1.ControllerRevision)
		return rev != nil && controls(owner, rev) && going(rev) && len(rev.Finalizers) > 0 && is(rev)
	}) != nil
}
