package job

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// oversteps reports that deleting a running pod leaves fewer than a Job wants (EXACT-11). It skips Jobs that may end
// because of their pods: upstream deletes first and writes the condition afterwards. In an Indexed Job, pods are not
// interchangeable.
func oversteps(owner runtime.Object, others []runtime.Object, before, after runtime.Object, _ time.Time,
	_ func(kind string) []runtime.Object) string {
	j := owner.(*batchv1.Job)
	if after != nil || !pod.Active(before.(*corev1.Pod)) || wants(j) <= 0 || indexed(j) || endsOtherwise(j) {
		return ""
	}
	active, succeeded, lost := 0, 0, 0
	for _, obj := range others {
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

// endsOtherwise reports whether a Job may end for other reasons than its numbers of succeeded and failed pods: the
// clock, rules, container restarts.
func endsOtherwise(j *batchv1.Job) bool {
	return len(j.Status.Conditions) > 0 || j.Spec.ActiveDeadlineSeconds != nil || j.Spec.SuccessPolicy != nil ||
		j.Spec.PodFailurePolicy != nil || j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever
}
