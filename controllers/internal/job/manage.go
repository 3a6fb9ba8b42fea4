package job

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/routing"
)

// carryOn creates or deletes pods, and checks whether the Job is complete. It reports whether the status changed.
func (a *attempt) carryOn(ctx context.Context) (changed bool, err error) {
	j, without := a.job, &a.r.options.Without
	managed := a.awake && (j.DeletionTimestamp == nil || without.Terminating)
	if managed {
		err = a.manage(ctx)
	}
	if a.complete() && (a.awake || without.Early) {
		// A Job that waits for expectations must not end, because pods that the cache lacks may still run. Upstream
		// does not check this, but since 1.36 no reconcile begins before the caches show earlier writes.
		a.end = success(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", a.r.env.Now())
		return false, err
	}
	return managed && a.writeSuspended(), err
}

// complete reports whether enough pods have succeeded and none runs. A Job without completions needs one success.
func (a *attempt) complete() bool {
	enough := a.succeeded > 0
	if n := a.job.Spec.Completions; n != nil {
		enough = a.succeeded >= *n
	}
	return enough && (a.running == 0 || a.r.options.Without.Linger)
}

// writeSuspended updates the condition Suspended. When the Job resumes, it gets a new start time.
func (a *attempt) writeSuspended() bool {
	s, now := &a.job.Status, a.r.env.Now()
	c := newCondition(batchv1.JobSuspended, "JobSuspended", "Job suspended", now)
	if !suspended(a.job) {
		c.Status, c.Reason, c.Message = corev1.ConditionFalse, "JobResumed", "Job resumed"
	}
	if !setCondition(s, c) {
		return false
	}
	if s.StartTime = nil; !suspended(a.job) {
		start := moment(now)
		s.StartTime = &start
	}
	return true
}

// manage creates or deletes pods to reach the wanted number. One reconcile never does both.
func (a *attempt) manage(ctx context.Context) error {
	if suspended(a.job) && !a.r.options.Without.Suspend {
		return a.remove(ctx, a.surplus(int(a.running)))
	}
	want := a.want()
	many := max(int(a.running)-want, 0)
	if many > 0 && a.r.options.Without.Least {
		many++
	}
	if surplus := a.surplus(many); len(surplus) > 0 {
		return a.remove(ctx, surplus[:min(len(surplus), burst)])
	}
	missing := want - int(a.running)
	if onlyFailed(a.job) {
		missing -= int(a.terminating)
	}
	if missing <= 0 {
		return nil
	}
	var wait time.Duration
	if !perIndex(a.job) {
		wait = a.backoff.remaining(a.r.env.Now())
	}
	indexes := []int(nil)
	if missing = min(missing, burst); wait == 0 && indexed(a.job) {
		indexes, wait = a.newIndexes(missing)
		missing = len(indexes)
	}
	if wait > 0 {
		a.r.env.Queue.AddAfter(a.key, max(wait, batch))
		return nil
	}
	return a.create(ctx, missing, indexes)
}

func (a *attempt) want() int {
	parallel := int(*a.job.Spec.Parallelism)
	switch n := a.job.Spec.Completions; {
	case a.r.options.Without.Surplus && int(a.running) <= parallel && a.succeeded > 0:
		return int(a.running)
	case n != nil:
		return max(min(int(*n)-int(a.succeeded), parallel), 0)
	case a.succeeded > 0:
		return int(a.running) // after one success, no pods are created and running pods continue
	}
	return parallel
}

// surplus chooses the active pods to delete: the duplicates of an Indexed Job, and others up to n in total.
func (a *attempt) surplus(n int) []*corev1.Pod {
	var surplus []*corev1.Pod
	rest := a.active
	if indexed(a.job) {
		surplus, rest = duplicates(a.job, a.active)
	}
	slices.SortStableFunc(rest, pod.Before)
	return append(surplus, rest[:max(n-len(surplus), 0)]...)
}

// remove deletes surplus pods. It removes their finalizers first, so that they are not counted as failed.
func (a *attempt) remove(ctx context.Context, pods []*corev1.Pod) error {
	keys := make([]string, len(pods))
	var adopted []string
	for i, p := range pods {
		if keys[i] = routing.Key(p); !metav1.IsControlledBy(p, a.job) {
			adopted = append(adopted, keys[i])
		}
	}
	a.r.expected.ExpectDeletions(a.key, a.r.owner(a.job), slices.Clone(keys), adopted...)
	var firstErr error
	for i, p := range pods {
		err := a.r.shedOne(ctx, a.key, p)
		if err == nil {
			err = a.r.delete(ctx, p)
		}
		if err != nil {
			a.r.expected.Deleted(a.key, keys[i]) // the deletion failed, so no event will show it
		}
		if err == nil || apierrors.IsNotFound(err) {
			a.removed(p)
		} else if firstErr == nil {
			firstErr = err
		}
	}
	return firstErr
}

func (a *attempt) removed(p *corev1.Pod) {
	a.running--
	a.terminating++
	if pod.Ready(p) {
		a.ready--
	}
}

// stop deletes the running pods because the Job ends. They keep their finalizers until they are counted. If a pod may
// still run, the Job does not end in this reconcile.
func (a *attempt) stop(ctx context.Context) error {
	without := &a.r.options.Without
	var firstErr error
	gone := 0
	for _, p := range a.active {
		if a.job.DeletionTimestamp != nil && !without.Terminating || without.Linger {
			continue // a terminating Job deletes no pods (ADOPT-3); upstream would delete them
		}
		err := a.r.delete(ctx, p)
		if err == nil || apierrors.IsNotFound(err) {
			gone++
			a.removed(p)
		} else if firstErr == nil {
			firstErr = err
		}
	}
	if gone < len(a.active) && !without.Linger || !a.awake {
		a.end = nil
	}
	return firstErr
}

// late deletes pods that run although their Job has ended. The controller may have created them before a restart, from
// an older cache. Each pod is read from the server first, because it may have ended. Upstream lets such pods run.
func (r *reconciler) late(ctx context.Context, j *batchv1.Job) error {
	if j.DeletionTimestamp != nil || r.options.Without.Late {
		return nil
	}
	for _, cached := range keep(pod.Of(r.pods, j.UID), pod.Active) {
		obj, err := r.env.Client.Get(ctx, pod.Kind, cached.Namespace, cached.Name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		p := obj.(*corev1.Pod)
		if !pod.Active(p) || !metav1.IsControlledBy(p, j) {
			continue
		}
		if err := r.delete(ctx, p); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return err
		}
	}
	return nil
}

// delete deletes a pod. From the era controllerref on, it sends the uid. Upstream sends only the name (RULES E56).
func (r *reconciler) delete(ctx context.Context, p *corev1.Pod) error {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}
	if g := r.options.Era; r.options.Without.VictimUID || g == Selector || g == Gated {
		o.Preconditions = nil
	}
	return r.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, o)
}

// create creates n pods in batches of 1, 2, 4 and so on, so few requests fail if the server refuses the template.
// indexes are the pods' indexes in an Indexed Job. Failed and skipped creations are no longer expected.
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

// createOne creates one pod. In a terminating namespace it returns nil without an error.
func (r *reconciler) createOne(ctx context.Context, p *corev1.Pod) (metav1.Object, error) {
	obj, err := r.env.Client.Create(ctx, p)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil, nil // the namespace is terminating, so every create would be refused
	}
	if err != nil {
		return nil, err
	}
	return obj.(metav1.Object), nil
}

// newPod returns a pod that shares parts of the Job's template. From the era controllerref on, it is created with the
// ControllerRef (LAW-1). In the current era, it also has the finalizer.
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
