package job

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// attempt is one reconcile of a Job.
type attempt struct {
	r     *reconciler
	key   string
	job   *batchv1.Job // a copy, whose status the reconcile writes
	awake bool         // the Job's expectations are fulfilled

	pods   []*corev1.Pod // the Job's pods
	active []*corev1.Pod // the active pods among pods

	running, ready, terminating int32 // numbers of pods, including the changes of this reconcile
	succeeded, failed           int32 // numbers of ended pods, including uncounted ones

	succeededBefore, succeededIndexes intervals // succeeded indexes, without and with the uncounted pods
	failedIndexes                     *intervals
	awaiting                          map[int]*corev1.Pod // the failed pods to keep until they are replaced, by index

	uncountedSucceeded, uncountedFailed map[types.UID]bool // uids in the status at the start of the reconcile
	backoff                             backoff
	end                                 *batchv1.JobCondition // why the Job ends; nil if it does not
}

// Sync reconciles one Job, or one pod that has lost its Job.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	if p, ok := orphanOf(key); ok {
		return r.free(ctx, p)
	}
	if err := r.wrote.Ready(key); err != nil && !r.options.Without.Lag {
		return err // the cache does not show the controller's own writes yet
	}
	obj, exists, _ := r.jobs.GetByKey(key)
	if !exists {
		r.Forget(key)
		return nil
	}
	j := obj.(*batchv1.Job)
	if s, err := readSelector(j); err != nil {
		return fmt.Errorf("job %s: bad selector: %w", key, err)
	} else if s == nil {
		return nil // a Job without a selector would create and release pods forever
	}
	if r.options.Era != Current {
		return r.syncOld(ctx, key, j)
	}
	switch {
	case foreign(j) && !r.options.Without.Managed:
		return nil
	case finished(j):
		delete(r.backoffs, key)
		delete(r.closed, key)
		return r.late(ctx, j)
	case r.closed[key] == j.UID:
		return nil // the cache does not show the Job's end yet (RULES I85)
	case j.Spec.CompletionMode != nil && *j.Spec.CompletionMode != batchv1.NonIndexedCompletion && !indexed(j):
		return nil // the mode is unknown: upstream writes an event and does nothing
	}
	return r.attempt(ctx, key, j)
}

// attempt reconciles a Job that has not ended.
func (r *reconciler) attempt(ctx context.Context, key string, j *batchv1.Job) error {
	a := &attempt{r: r, key: key, job: r.copyOf(j)}
	// Check before the pods are listed. Otherwise an event after the listing could fulfil the expectations, and the
	// list would lack the pod of this event (RULES C40).
	a.awake = r.awake(key, j)
	var err error
	if a.pods, err = r.claim(ctx, key, j); err != nil {
		return err
	}
	a.survey()
	a.decide()
	changed := false
	var podsErr error
	if a.end != nil {
		podsErr = a.stop(ctx)
	} else {
		changed, podsErr = a.carryOn(ctx)
	}
	if err := a.account(ctx, changed); err != nil {
		return err
	}
	return podsErr
}

// copyOf returns a shallow copy of a Job with its own status.
func (r *reconciler) copyOf(j *batchv1.Job) *batchv1.Job {
	own := *j
	if !r.options.Without.SharedCache {
		j.Status.DeepCopyInto(&own.Status)
	}
	if own.Status.UncountedTerminatedPods == nil {
		own.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	}
	return &own
}

func (a *attempt) survey() {
	s := &a.job.Status
	a.active = keep(a.pods, pod.Active)
	a.running, a.ready, a.terminating = int32(len(a.active)), count(a.active, pod.Ready), count(a.pods, pod.Terminating)
	if a.r.options.Without.Ready {
		a.ready = a.running
	}
	a.uncountedSucceeded = set(s.UncountedTerminatedPods.Succeeded)
	a.uncountedFailed = set(s.UncountedTerminatedPods.Failed)
	succeeded := a.uncountedPods(a.uncountedSucceeded,
		func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	failures := a.uncountedPods(a.uncountedFailed, func(p *corev1.Pod) bool { return failed(p, a.job) })
	a.succeeded = s.Succeeded + int32(len(succeeded)+len(a.uncountedSucceeded))
	a.failed = s.Failed + int32(len(a.uncountedFailed)) +
		count(failures, func(p *corev1.Pod) bool { return judge(a.job, p).counts() })
	a.backoff = a.r.backoffs[a.key].after(succeeded, failures)
	if s.StartTime == nil && !suspended(a.job) {
		now := moment(a.r.env.Now())
		s.StartTime = &now
	}
	if !indexed(a.job) {
		return
	}
	a.succeededBefore = parseIntervals(s.CompletedIndexes, int(*a.job.Spec.Completions))
	a.succeededIndexes = a.succeededBefore.with(indexesOf(keep(a.pods, func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded && within(p, a.job) && tracked(p)
	}))...)
	a.succeeded = int32(a.succeededIndexes.total())
	if perIndex(a.job) {
		a.failedIndexes = failedIndexes(a.job, a.pods)
		a.awaiting = a.awaitingReplacement()
	}
}

func set(uids []types.UID) map[types.UID]bool {
	m := make(map[types.UID]bool, len(uids))
	for _, uid := range uids {
		m[uid] = true
	}
	return m
}

// uncountedPods returns the pods that satisfy is and have the finalizer and a valid index. It leaves out pods whose uid
// is in known, the uids in the status.
func (a *attempt) uncountedPods(known map[types.UID]bool, is func(*corev1.Pod) bool) []*corev1.Pod {
	return keep(a.pods, func(p *corev1.Pod) bool {
		return tracked(p) && !known[p.UID] && !a.r.hasShed(a.key, p) && within(p, a.job) && is(p)
	})
}

// decide decides whether the Job ends. A decision in the status counts first, then failures, then success. A Job that
// has met its success criteria cannot fail any more.
func (a *attempt) decide() {
	j, now := a.job, a.r.env.Now()
	if c := find(j.Status.Conditions, batchv1.JobSuccessCriteriaMet); c != nil && c.Status == corev1.ConditionTrue {
		a.end = c
		return
	}
	if c := find(j.Status.Conditions, batchv1.JobFailureTarget); c != nil && c.Status == corev1.ConditionTrue {
		a.end = newCondition(batchv1.JobFailed, c.Reason, c.Message, now)
		return
	}
	if reason, message := a.whyFailed(now); reason != "" {
		a.end = failure(reason, message, now)
		return
	}
	if indexed(j) {
		if message := enough(j, a.succeededIndexes); message != "" {
			a.end = success(batchv1.JobReasonSuccessPolicy, message, now)
		}
	}
}

// whyFailed returns the first reason why the Job fails, or "".
func (a *attempt) whyFailed(now time.Time) (reason, message string) {
	j := a.job
	for _, p := range a.pods {
		if message := judge(j, p).message; message != "" && failed(p, j) {
			return batchv1.JobReasonPodFailurePolicy, message
		}
	}
	if a.failed > *j.Spec.BackoffLimit || restartedTooOften(j, a.pods) {
		return batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit"
	}
	if limit := j.Spec.ActiveDeadlineSeconds; limit != nil && !suspended(j) {
		left := time.Duration(*limit)*time.Second - now.Sub(j.Status.StartTime.Time)
		if left <= 0 {
			return batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline"
		}
		a.r.env.Queue.AddAfter(a.key, left)
	}
	if a.failedIndexes == nil {
		return "", ""
	}
	n := a.failedIndexes.total()
	switch {
	case j.Spec.MaxFailedIndexes != nil && n > int(*j.Spec.MaxFailedIndexes):
		return batchv1.JobReasonMaxFailedIndexesExceeded,
			"Job has exceeded the specified maximal number of failed indexes"
	case n > 0 && n+a.succeededIndexes.total() >= int(*j.Spec.Completions):
		return batchv1.JobReasonFailedIndexes, "Job has failed indexes"
	}
	return "", ""
}

// restartedTooOften reports whether containers were restarted too often in a Job that restarts them in place.
func restartedTooOften(j *batchv1.Job, pods []*corev1.Pod) bool {
	if j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	n := int32(0)
	for _, p := range pods {
		if p.Status.Phase != corev1.PodRunning && p.Status.Phase != corev1.PodPending {
			continue
		}
		for _, list := range [...][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
			for i := range list {
				n += list[i].RestartCount
			}
		}
	}
	return n >= max(*j.Spec.BackoffLimit, 1)
}

func find(list []batchv1.JobCondition, of batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range list {
		if list[i].Type == of {
			return &list[i]
		}
	}
	return nil
}

func met(j *batchv1.Job, of batchv1.JobConditionType) bool {
	c := find(j.Status.Conditions, of)
	return c != nil && c.Status == corev1.ConditionTrue
}

// finished reports whether the Job has ended. Upstream never reconciles an ended Job again (RULES I85).
func finished(j *batchv1.Job) bool { return met(j, batchv1.JobComplete) || met(j, batchv1.JobFailed) }

func suspended(j *batchv1.Job) bool { return j.Spec.Suspend != nil && *j.Spec.Suspend }

func indexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

// foreign reports whether another controller runs a Job.
func foreign(j *batchv1.Job) bool {
	return j.Spec.ManagedBy != nil && *j.Spec.ManagedBy != batchv1.JobControllerName
}

// moment returns a time in the API's precision of seconds.
func moment(now time.Time) metav1.Time { return metav1.NewTime(now.Truncate(time.Second)) }

func newCondition(of batchv1.JobConditionType, reason, message string, now time.Time) *batchv1.JobCondition {
	return &batchv1.JobCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: moment(now), LastTransitionTime: moment(now)}
}

// failure returns the condition that announces why a Job will fail. success returns the condition that announces its
// success. When all pods are counted, the Job gets the final condition with the same text.
func failure(reason, message string, now time.Time) *batchv1.JobCondition {
	return newCondition(batchv1.JobFailureTarget, reason, message, now)
}

func success(reason, message string, now time.Time) *batchv1.JobCondition {
	return newCondition(batchv1.JobSuccessCriteriaMet, reason, message, now)
}

// setCondition sets a condition and reports whether anything changed. It does not add a condition that is false.
func setCondition(s *batchv1.JobStatus, c *batchv1.JobCondition) bool {
	old := find(s.Conditions, c.Type)
	switch {
	case old == nil && c.Status == corev1.ConditionFalse:
		return false
	case old == nil:
		s.Conditions = append(s.Conditions, *c)
		return true
	case old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message:
		return false
	}
	*old = *c
	return true
}
