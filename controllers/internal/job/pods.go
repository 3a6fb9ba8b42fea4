package job

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/ref"
)

// failed reports whether a pod counts as a failure of its Job. One that is being
// deleted does, as it may never come to say so itself, unless the Job replaces only
// what has failed.
func failed(p *corev1.Pod, j *batchv1.Job) bool {
	return p.Status.Phase == corev1.PodFailed ||
		!onlyFailed(j) && p.DeletionTimestamp != nil && p.Status.Phase != corev1.PodSucceeded
}

// onlyFailed: pods that are being deleted are replaced when they have failed, not
// before.
func onlyFailed(j *batchv1.Job) bool {
	return j.Spec.PodReplacementPolicy != nil && *j.Spec.PodReplacementPolicy == batchv1.Failed ||
		j.Spec.PodFailurePolicy != nil
}

// tracked reports whether the Job's finalizer is on a pod.
func tracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, tracking) }

func keep(pods []*corev1.Pod, is func(*corev1.Pod) bool) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, p := range pods {
		if is(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

func count(pods []*corev1.Pod, is func(*corev1.Pod) bool) int32 {
	n := int32(0)
	for _, p := range pods {
		if is(p) {
			n++
		}
	}
	return n
}

// selectorOf is a Job's selector; nil for one that there is not, or that an earlier
// version of the server stored and nobody can read. An empty one selects every pod.
func selectorOf(j *batchv1.Job) labels.Selector {
	s, _ := readSelector(j)
	return s
}

func readSelector(j *batchv1.Job) (labels.Selector, error) {
	s, err := ref.Parse(j.Spec.Selector)
	if err != nil || j.Spec.Selector == nil {
		return nil, err
	}
	return s, nil
}

// selects reports whether a Job's selector matches labels.
func selects(owner runtime.Object, have map[string]string) bool {
	return ref.Selects(owner.(*batchv1.Job).Spec.Selector, have)
}
