package job

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/controllers/routing"
)

// create creates n pods, for these indexes in an Indexed Job, in batches of 1, 2, 4 and so on: a refused template fails
// a few times, not n times. Failed and skipped creations are no longer expected.
func (a *attempt) create(ctx context.Context, n int, indexes []int) error {
	r := a.r
	r.expected.ExpectCreations(a.key, a.r.owner(a.job), n)
	template := a.newPod()
	made := 0
	var firstErr error
	for tried, size := 0, 1; tried < n && firstErr == nil; size *= 2 {
		for end := min(tried+size, n); tried < end; tried++ {
			one := template
			if indexes != nil {
				one = a.forIndex(template, indexes[tried])
			}
			obj, err := r.createOne(ctx, one)
			if obj != nil {
				made++
				r.expected.Made(a.key, routing.Key(obj))
			} else if firstErr == nil {
				firstErr = err
			}
		}
	}
	for range n - made {
		r.expected.Created(a.key)
	}
	r.expected.Answered(a.key)
	a.running += int32(made)
	return firstErr
}

// createOne creates one pod; nil if that is useless.
func (r *reconciler) createOne(ctx context.Context, p *corev1.Pod) (metav1.Object, error) {
	obj, err := r.env.Client.Create(ctx, p)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil, nil // every create would be refused
	}
	if err != nil {
		return nil, err
	}
	return obj.(metav1.Object), nil
}

// newPod makes a pod from the Job's template and shares its parts. It has the ControllerRef (LAW-1) and the finalizer
// from the start.
func (a *attempt) newPod() *corev1.Pod {
	t, without := &a.job.Spec.Template, &a.r.options.Without
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.job.Namespace, GenerateName: a.job.Name + "-",
			Labels: t.Labels, Annotations: t.Annotations, Finalizers: t.Finalizers,
		},
		Spec: t.Spec,
	}
	if old := a.r.options.Era; old == Selector || old == Gated {
		p.Annotations = createdby.Annotate(t.Annotations, a.job, Kind)
	} else if !without.TakeOwned {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(a.job, Kind)}
	}
	if a.r.options.Era == Current && !without.Tracking && !slices.Contains(t.Finalizers, tracking) {
		p.Finalizers = append(slices.Clip(t.Finalizers), tracking)
	}
	if indexed(a.job) {
		indexEnv(&p.Spec)
	}
	return p
}
