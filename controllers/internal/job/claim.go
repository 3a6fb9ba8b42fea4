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

// claim returns the pods that are the Job's: of its own and the orphans of its
// namespace it keeps, adopts and releases, those that have ended and those that are
// being deleted among them, as they are to be accounted for. The finalizer comes and
// goes in the same patch as the reference (RULES I80): a pod that is adopted is as
// good as one that was made.
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

// awake says whether the Job may create and delete pods, or waits to see what it did.
// A deletion that it expects is not shown to it where the pod has lost its owner
// meanwhile (WATCH-5), or was shown before it was expected: so what is expected is
// compared with the cache, too.
func (r *reconciler) awake(key string, j *batchv1.Job) bool {
	if r.options.Era == Current {
		r.expected.Recheck(key, func(object string) expectations.Sight { return r.sight(object, j) })
	}
	return r.expected.Satisfied(key, r.owner(j)) || r.options.Without.Wait
}

// owner is the uid by which what a Job expects is known. Before ControllerRef that
// went by key alone.
func (r *reconciler) owner(j *batchv1.Job) types.UID {
	if r.options.Era == Selector || r.options.Era == Gated {
		return ""
	}
	return j.UID
}

// sight is how the cache shows a pod that the Job deletes.
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
