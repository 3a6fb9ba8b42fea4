package job

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/expectations"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/ref"
)

// claim returns the Job's pods. It keeps and releases its own pods and adopts orphans of its namespace, including ended
// and terminating ones, which must be counted. The finalizer is added and removed in the same patch as the reference
// (RULES I80): an adopted pod counts like a created one.
func (r *reconciler) claim(ctx context.Context, key string, j *batchv1.Job) ([]*corev1.Pod, error) {
	m := &ref.Manager{Client: r.env.Client, Owner: j, Kind: Kind, Dependent: pod.Kind,
		Without: &r.options.Without.Ref}
	if r.options.Era == Current && !r.options.Without.AdoptBare {
		m.Finalizers = []string{tracking}
	}
	if r.options.Without.OwnCount {
		return keep(pod.In(r.pods, j.Namespace), func(p *corev1.Pod) bool { return selects(j, p.Labels) }), nil
	}
	candidates := slices.Concat(pod.Of(r.pods, j.UID), pod.Orphans(r.pods, j.Namespace))
	r.forgetShed(key, candidates)
	pods, err := ref.Claim(ctx, m, candidates, func(p *corev1.Pod) bool { return selects(j, p.Labels) })
	if err != nil {
		return nil, err
	}
	for i, p := range pods {
		if !metav1.IsControlledBy(p, j) && !tracked(p) && len(m.Finalizers) > 0 {
			adopted := *p
			adopted.Finalizers = append(slices.Clip(p.Finalizers), tracking)
			pods[i] = &adopted
		}
	}
	return pods, nil
}

// awake reports whether the Job may create and delete pods, or waits for its expectations. An expected deletion may
// never be shown: the pod may have lost its owner (WATCH-5), or the deletion was shown too early. So expectations are
// compared with the cache, too.
func (r *reconciler) awake(key string, j *batchv1.Job) bool {
	if r.options.Era == Current {
		r.expected.Recheck(key, func(object string) expectations.Sight { return r.sight(object, j) })
	}
	return r.expected.Satisfied(key, r.owner(j)) || r.options.Without.Wait
}

// owner returns the uid for a Job's expectations. Before ControllerRef only the key counted.
func (r *reconciler) owner(j *batchv1.Job) types.UID {
	if r.options.Era == Selector || r.options.Era == Gated {
		return ""
	}
	return j.UID
}

// sight returns how the cache shows a pod that the Job deletes.
func (r *reconciler) sight(object string, j *batchv1.Job) expectations.Sight {
	obj, exists, _ := r.pods.GetByKey(object)
	if !exists {
		return expectations.Moot
	}
	p := obj.(*corev1.Pod)
	switch controller := metav1.GetControllerOfNoCopy(p); {
	case controller == nil:
		return expectations.Lost
	case controller.UID != j.UID, p.DeletionTimestamp != nil:
		return expectations.Moot
	}
	return expectations.Owned
}
