package job

import (
	"context"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/routing"
)

// orphanMark is a part of the queue key of a pod that has the finalizer and no Job. No Job's name can contain it.
const orphanMark = "/orphan:"

func orphanKey(p *corev1.Pod) string { return p.Namespace + orphanMark + p.Name }

func orphanOf(key string) (p string, ok bool) {
	namespace, name, ok := strings.Cut(key, orphanMark)
	return namespace + "/" + name, ok
}

// free removes the finalizer of a pod that has no controller, or whose Job is gone or has ended. It skips a pod whose
// controller has another kind or apiVersion, and a pod whose Job another controller runs (RULES I81).
func (r *reconciler) free(ctx context.Context, key string) error {
	obj, exists, _ := r.pods.GetByKey(key)
	if !exists {
		return nil
	}
	p := obj.(*corev1.Pod)
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil && !r.options.Without.Thief {
		if owner.Kind != Kind.Kind || owner.APIVersion != Kind.GroupVersion().String() {
			return nil
		}
		if j := r.named(p.Namespace, owner); j != nil && (foreign(j) || !finished(j)) {
			return nil
		}
	}
	if r.options.Without.Orphans {
		return nil
	}
	if err := r.shedOne(ctx, "", p); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

// keeps returns why a terminating pod keeps the finalizer, or "" (RULES I81).
func keeps(obj runtime.Object, all func(kind string) []runtime.Object) string {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return ""
	}
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil {
		return ""
	}
	if owner.Kind != Kind.Kind || owner.APIVersion != Kind.GroupVersion().String() {
		return "its controller is no Job"
	}
	for _, o := range all(Kind.Kind) {
		j := o.(*batchv1.Job)
		switch {
		case j.UID != owner.UID:
		case foreign(j):
			return "its Job is another controller's"
		case awaited(j, p):
			return "its Job waits until it has failed"
		case tallies(j, p, all(pod.Kind.Kind)):
			return "its Job tells from it how often its index has failed"
		}
	}
	return ""
}

// awaited reports whether a Job that replaces only failed pods still waits until a terminating pod has ended. The
// kubelet or PodGC reports the end (job_controller.go, isPodFailed).
func awaited(j *batchv1.Job, p *corev1.Pod) bool {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	return onlyFailed(j) && p.DeletionTimestamp != nil && !ended && j.DeletionTimestamp == nil && !finished(j) &&
		!met(j, batchv1.JobFailureTarget) && !met(j, batchv1.JobSuccessCriteriaMet)
}

// tallies reports whether a terminating pod is kept because its annotations hold the number of failures of its index.
// It is kept until the index gets a new pod. A suspended Job, or one that runs the maximum number of pods, creates none
// (indexed_job_utils.go, getPodsWithDelayedDeletionPerIndex).
func tallies(j *batchv1.Job, p *corev1.Pod, pods []runtime.Object) bool {
	if p.DeletionTimestamp == nil || !indexed(j) || !perIndex(j) || j.DeletionTimestamp != nil || finished(j) ||
		met(j, batchv1.JobFailureTarget) || met(j, batchv1.JobSuccessCriteriaMet) || !within(p, j) || !failed(p, j) ||
		givesUp(p, j) {
		return false
	}
	i, most := indexOf(p), int(*j.Spec.Completions)
	if parseIntervals(j.Status.CompletedIndexes, most).has(i) ||
		j.Status.FailedIndexes != nil && parseIntervals(*j.Status.FailedIndexes, most).has(i) {
		return false
	}
	return !slices.ContainsFunc(pods, func(obj runtime.Object) bool {
		o := obj.(*corev1.Pod)
		return metav1.IsControlledBy(o, j) && indexOf(o) == i && o.UID != p.UID &&
			(pod.Active(o) || tracked(o) && failed(o, j) && follows(o, p))
	})
}

// follows reports whether the failed pod o is later than p, a failed pod of the same index. The later pod's
// annotations hold the number of failures of the index.
func follows(o, p *corev1.Pod) bool {
	_, ours := failures(o)
	_, theirs := failures(p)
	if o.Name > p.Name { // if both have the same count, the pod with the greater name holds it
		return theirs <= ours && !endedAt(o).Before(endedAt(p))
	}
	return theirs < ours || endedAt(p).Before(endedAt(o))
}

func (r *reconciler) named(namespace string, owner *metav1.OwnerReference) *batchv1.Job {
	obj, exists, _ := r.jobs.GetByKey(routing.Key(&metav1.ObjectMeta{Namespace: namespace, Name: owner.Name}))
	if !exists {
		return nil
	}
	j := obj.(*batchv1.Job)
	if j.UID != owner.UID {
		return nil
	}
	return j
}
