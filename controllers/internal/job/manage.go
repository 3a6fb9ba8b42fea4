package job

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/routing"
)

// carryOn brings the Job to the number of pods it wants, and sees whether it is
// complete. It reports whether the status says something else for it.
func (a *attempt) carryOn(ctx context.Context) (changed bool, err error) {
	j, without := a.job, &a.r.options.Without
	managed := a.awake && (j.DeletionTimestamp == nil || without.Terminating)
	if managed {
		err = a.manage(ctx)
	}
	if a.complete() && (a.awake || without.Early) {
		// What it made and has not seen might be at work still. Upstream does not wait for it, but since 1.36 no
		// sync begins before its writes are seen.
		a.end = success(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods", a.r.env.Now())
		return false, err
	}
	return managed && a.writeSuspended(), err
}

// complete: enough pods have succeeded, and none is at work. A Job that does not say
// how many it needs is content with one, and waits for the others to end.
func (a *attempt) complete() bool {
	enough := a.succeeded > 0
	if n := a.job.Spec.Completions; n != nil {
		enough = a.succeeded >= *n
	}
	return enough && (a.running == 0 || a.r.options.Without.Linger)
}

// writeSuspended has the status say whether the Job is suspended. The time for which
// it has been active starts anew when it goes on.
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

// manage creates or deletes pods so that as many are at work as should be, never
// both in one sync.
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

// want is how many pods should be at work.
func (a *attempt) want() int {
	parallel := int(*a.job.Spec.Parallelism)
	switch n := a.job.Spec.Completions; {
	case a.r.options.Without.Surplus && int(a.running) <= parallel && a.succeeded > 0:
		return int(a.running)
	case n != nil:
		return max(min(int(*n)-int(a.succeeded), parallel), 0)
	case a.succeeded > 0:
		return int(a.running) // one was enough; those that are at work go on
	}
	return parallel
}

// surplus chooses the active pods that are to go: those without a place in an Indexed
// Job, and as many more as make n together.
func (a *attempt) surplus(n int) []*corev1.Pod {
	var surplus []*corev1.Pod
	rest := a.active
	if indexed(a.job) {
		surplus, rest = duplicates(a.job, a.active)
	}
	slices.SortStableFunc(rest, pod.Before)
	return append(surplus, rest[:max(n-len(surplus), 0)]...)
}

// remove deletes pods that are too many. They have not failed, so they are let go of
// first: nothing is to be counted when they end.
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
			a.r.expected.Deleted(a.key, keys[i]) // nobody will see it
		}
		if err == nil || apierrors.IsNotFound(err) {
			a.removed(p)
		} else if firstErr == nil {
			firstErr = err
		}
	}
	return firstErr
}

// removed takes a pod that was deleted out of the numbers.
func (a *attempt) removed(p *corev1.Pod) {
	a.running--
	a.terminating++
	if pod.Ready(p) {
		a.ready--
	}
}

// stop deletes the pods that are at work: the Job ends. They keep their finalizers,
// as it is written down first what they were. The Job does not end in this sync
// where one is left, or may be.
func (a *attempt) stop(ctx context.Context) error {
	without := &a.r.options.Without
	var firstErr error
	gone := 0
	for _, p := range a.active {
		if a.job.DeletionTimestamp != nil && !without.Terminating || without.Linger {
			continue // ADOPT-3: it does nothing any more; upstream would delete them
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

// late deletes pods that are at work though their Job has ended: they were made on
// the word of an older list, after a restart. Upstream lets them run. The cache may
// show a pod at work that has ended, so each is read live.
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

// delete deletes this incarnation of a pod. Upstream's deletes whatever has the name
// (RULES E56, CORPUS B12).
func (r *reconciler) delete(ctx context.Context, p *corev1.Pod) error {
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}}
	if g := r.options.Era; r.options.Without.VictimUID || g == Selector || g == Gated {
		o.Preconditions = nil
	}
	return r.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, o)
}
