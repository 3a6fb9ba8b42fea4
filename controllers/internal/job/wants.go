package job

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/sim/law"
)

// wants returns how many active pods a Job should have by its spec and status. It returns -1 if another controller
// manages the Job, or the Job has no valid selector. The Contract allows fewer pods, even none, because upstream
// deletes pods before it writes that the Job has ended.
func wants(owner runtime.Object) int {
	j := owner.(*batchv1.Job)
	switch {
	case foreign(j), selectorOf(j) == nil:
		return -1
	case finished(j) || suspended(j) || met(j, batchv1.JobFailureTarget) || met(j, batchv1.JobSuccessCriteriaMet):
		return 0
	case j.Spec.Completions == nil && j.Status.Succeeded > 0:
		return int(j.Status.Active) // no pods are created, and running pods continue
	}
	n := most(j)
	if onlyFailed(j) && j.Status.Terminating != nil {
		// Until a terminating pod is gone, it is not replaced. No running pod is deleted because of it.
		n = max(n-int(*j.Status.Terminating), min(n, int(j.Status.Active)))
	}
	return max(n, 0)
}

// most returns how many pods a Job may run at once.
func most(j *batchv1.Job) int {
	n := int(*j.Spec.Parallelism)
	if j.Spec.Completions != nil {
		left := int(*j.Spec.Completions) - succeeded(j)
		if j.Status.FailedIndexes != nil {
			left -= parseIntervals(*j.Status.FailedIndexes, int(*j.Spec.Completions)).total()
		}
		n = min(n, left)
	}
	return max(n, 0)
}

// succeeded returns how many of a Job's completions are done. For an Indexed Job it counts the succeeded indexes below
// completions, because the counter does not change when completions do. Earlier eras wrote only the counter.
func succeeded(j *batchv1.Job) int {
	if j.Status.CompletedIndexes != "" { // the server accepts this field only for Indexed Jobs
		return parseIntervals(j.Status.CompletedIndexes, int(*j.Spec.Completions)).total()
	}
	return int(j.Status.Succeeded)
}

// surge returns how many pods more than [wants] a Job may have. Terminating pods in its status may already be gone and
// replaced.
func surge(owner runtime.Object) int {
	j := owner.(*batchv1.Job)
	if n := wants(owner); n > 0 || n == 0 && onlyFailed(j) && !suspended(j) && !finished(j) {
		return max(most(j)-n, 0)
	}
	return 0
}

// counts declares the numbers of a Job's status that count its pods (EXACT-8). It omits the number of terminating pods,
// because a pod without finalizers is gone at once and the status may still count it.
var counts = []law.Count{
	{Name: "active",
		Of: func(owner runtime.Object) int { return unlessLeft(owner, int(owner.(*batchv1.Job).Status.Active)) },
		Is: func(_, p runtime.Object) bool { return pod.Active(p.(*corev1.Pod)) }},
	{Name: "ready",
		Of: func(owner runtime.Object) int {
			n := owner.(*batchv1.Job).Status.Ready
			if n == nil {
				return -1
			}
			return unlessLeft(owner, int(*n))
		},
		Is: func(_, p runtime.Object) bool { return pod.Active(p.(*corev1.Pod)) && pod.Ready(p.(*corev1.Pod)) }},
	{Name: "succeeded", Ever: true,
		Of: func(owner runtime.Object) int {
			if j := owner.(*batchv1.Job); indexed(j) || finished(j) {
				return -1 // an index counts only once, and a Job that has ended counts no more pods
			}
			return unlessLeft(owner, int(owner.(*batchv1.Job).Status.Succeeded))
		},
		Is: func(_, p runtime.Object) bool { return p.(*corev1.Pod).Status.Phase == corev1.PodSucceeded }},
}

// onces declares the counts of ended pods, including pods that the status only lists as uncounted (EXACT-12). When a
// Job fails, every pod that has not succeeded counts as failed.
var onces = []law.Count{
	{Name: "pods that succeeded", Once: true,
		Of: func(owner runtime.Object) int {
			j := owner.(*batchv1.Job)
			n := int(j.Status.Succeeded)
			if u := j.Status.UncountedTerminatedPods; u != nil {
				n += len(u.Succeeded)
			}
			return unlessLeft(owner, n)
		},
		Is: func(_, p runtime.Object) bool { return p.(*corev1.Pod).Status.Phase == corev1.PodSucceeded }},
	{Name: "pods that ended", Once: true,
		Of: func(owner runtime.Object) int {
			j := owner.(*batchv1.Job)
			n := int(j.Status.Succeeded + j.Status.Failed)
			if u := j.Status.UncountedTerminatedPods; u != nil {
				n += len(u.Succeeded) + len(u.Failed)
			}
			return unlessLeft(owner, n)
		},
		Is: func(_, _ runtime.Object) bool { return true }},
}

// unlessLeft returns n, or -1 if another controller manages the Job, or the Job has no valid selector.
func unlessLeft(owner runtime.Object, n int) int {
	if j := owner.(*batchv1.Job); foreign(j) || selectorOf(j) == nil {
		return -1
	}
	return n
}

// exceedsBounds is the check of the invariant stay-within-bounds. It returns a description if the deletion of a running
// pod leaves fewer pods than a Job wants. It skips Jobs that may have ended, because upstream deletes pods before it
// writes the condition. It also skips Indexed Jobs, because their pods are not interchangeable.
func exceedsBounds(f *law.Facts) string {
	j := f.Owner.(*batchv1.Job)
	if f.After != nil || !pod.Active(f.Before.(*corev1.Pod)) || wants(j) <= 0 || indexed(j) || endsOtherwise(j) {
		return ""
	}
	active, succeeded, lost := 0, 0, 0
	for _, obj := range f.Dependents {
		switch p := obj.(*corev1.Pod); {
		case pod.Active(p):
			active++
		case p.Status.Phase == corev1.PodSucceeded:
			succeeded++
		default:
			lost++
		}
	}
	u := j.Status.UncountedTerminatedPods
	if u != nil {
		succeeded += len(u.Succeeded)
		lost += len(u.Failed)
	}
	if lost+int(j.Status.Failed) > int(*j.Spec.BackoffLimit) || j.Spec.Completions == nil && succeeded > 0 {
		return ""
	}
	least := most(j)
	if j.Spec.Completions != nil {
		least = min(least, int(*j.Spec.Completions-j.Status.Succeeded)-succeeded)
	}
	if onlyFailed(j) {
		least -= lost
	}
	if active >= least {
		return ""
	}
	return fmt.Sprintf("leaves %d active pods, at least %d there have to be", active, least)
}

// endsOtherwise reports whether a Job may end although its numbers of succeeded and failed pods do not require it. The
// reasons are a deadline, a rule, or container restarts.
func endsOtherwise(j *batchv1.Job) bool {
	return len(j.Status.Conditions) > 0 || j.Spec.ActiveDeadlineSeconds != nil || j.Spec.SuccessPolicy != nil ||
		j.Spec.PodFailurePolicy != nil || j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever
}
