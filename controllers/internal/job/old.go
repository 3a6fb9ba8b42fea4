package job

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// syncOld is a reconcile in the eras before [Current]. It counts the ended pods that still exist: no finalizer keeps
// them. A Job with completions ends when enough pods have succeeded, even if others run.
func (r *reconciler) syncOld(ctx context.Context, key string, j *batchv1.Job) error {
	if finished(j) {
		return nil
	}
	a := &attempt{r: r, key: key, job: r.copyOf(j), awake: r.awake(key, j)}
	if err := a.findOld(ctx); err != nil {
		return err
	}
	err := a.manageOld(ctx)
	s := &a.job.Status
	s.Active = a.running
	// The server refuses to lower these numbers.
	s.Succeeded, s.Failed = max(s.Succeeded, a.succeeded), max(s.Failed, a.failed)
	if equality.Semantic.DeepEqual(s, &j.Status) {
		return err
	}
	if err := a.flush(ctx); err != nil {
		return err
	}
	return err
}

func (a *attempt) findOld(ctx context.Context) error {
	var err error
	if a.r.options.Era == ControllerRef {
		a.pods, err = a.r.claim(ctx, a.key, a.job)
	} else {
		a.pods = keep(pod.In(a.r.pods, a.job.Namespace), func(p *corev1.Pod) bool { return selects(a.job, p.Labels) })
	}
	a.active = keep(a.pods, pod.Active)
	a.running = int32(len(a.active))
	a.succeeded = count(a.pods, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	a.failed = count(a.pods, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if a.job.Status.StartTime == nil {
		start := moment(a.r.env.Now())
		a.job.Status.StartTime = &start
	}
	return err
}

// manageOld creates or deletes pods, and updates the status if the Job has ended. With the final condition it adds the
// condition that announces the end, because the server requires both.
func (a *attempt) manageOld(ctx context.Context) error {
	j, s, now := a.job, &a.job.Status, a.r.env.Now()
	if limit := j.Spec.ActiveDeadlineSeconds; limit != nil {
		left := time.Duration(*limit)*time.Second - now.Sub(s.StartTime.Time)
		if left <= 0 {
			why := failure(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline", now)
			a.failed += a.running
			err := a.remove(ctx, a.active)
			s.Conditions = append(s.Conditions, *why, *newCondition(batchv1.JobFailed, why.Reason, why.Message, now))
			return err
		}
		a.r.env.Queue.AddAfter(a.key, left)
	}
	var err error
	if a.awake && (j.DeletionTimestamp == nil || a.r.options.Era == Selector) {
		err = a.scaleOld(ctx)
	}
	if n := j.Spec.Completions; n != nil && a.succeeded >= *n || n == nil && a.succeeded > 0 && a.running == 0 {
		why := success("", "", now)
		s.Conditions = append(s.Conditions, *why, *newCondition(batchv1.JobComplete, "", "", now))
		s.CompletionTime = &why.LastTransitionTime
		a.running = 0 // the status of an ended Job has no active pods
	}
	return err
}

// scaleOld creates missing pods, or deletes pods beyond the parallelism. It deletes no other pods (kubernetes#99963).
func (a *attempt) scaleOld(ctx context.Context) error {
	parallel := int(*a.job.Spec.Parallelism)
	if n := int(a.running) - parallel; n > 0 {
		victims := slices.Clone(a.active)
		slices.SortStableFunc(victims, pod.Before)
		return a.remove(ctx, victims[:n])
	}
	if n := min(a.want()-int(a.running), burst); n > 0 {
		return a.create(ctx, n, nil)
	}
	return nil
}
