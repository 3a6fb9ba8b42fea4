// Package controller starts the Jobs of CronJobs.
package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/cronjob/api/v1"
)

// scheduledAt is the annotation of a Job with its scheduled time.
const scheduledAt = "batch.example.com/scheduled-at"

type CronJobReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var c v1.CronJob
	if err := r.Get(ctx, req.NamespacedName, &c); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if c.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	active, ended, err := r.jobs(ctx, &c)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.tell(ctx, &c, active, ended); err != nil {
		return ctrl.Result{}, err
	}
	for i := range max(0, len(ended)-int(c.Spec.HistoryLimit)) {
		if err := r.remove(ctx, &ended[i]); err != nil {
			return ctrl.Result{}, err
		}
	}
	if c.Spec.Suspend {
		return ctrl.Result{}, nil
	}
	schedule, err := cron.ParseStandard(c.Spec.Schedule)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the schedule cannot be read")
		return ctrl.Result{}, nil // an edit of the CronJob enqueues it again
	}
	now := time.Now()
	missed := last(schedule, from(&c, now), now)
	again := ctrl.Result{RequeueAfter: schedule.Next(now).Sub(now)}
	if missed.IsZero() || late(&c, missed, now) || c.Spec.ConcurrencyPolicy == "Forbid" && len(active) > 0 {
		return again, nil
	}
	if c.Spec.ConcurrencyPolicy == "Replace" {
		for i := range active {
			if err := r.remove(ctx, &active[i]); err != nil {
				return ctrl.Result{}, err
			}
		}
	}
	job, err := r.job(&c, missed)
	if err != nil {
		return ctrl.Result{}, err
	}
	return again, client.IgnoreAlreadyExists(r.Create(ctx, job))
}

// jobs lists the Jobs of a CronJob that are not terminating: the running ones, and the ended ones, the oldest first.
func (r *CronJobReconciler) jobs(ctx context.Context, c *v1.CronJob) (active, ended []batchv1.Job, _ error) {
	var all batchv1.JobList
	if err := r.List(ctx, &all, client.InNamespace(c.Namespace)); err != nil {
		return nil, nil, err
	}
	for _, job := range all.Items {
		if !metav1.IsControlledBy(&job, c) || job.DeletionTimestamp != nil {
			continue
		}
		if slices.ContainsFunc(job.Status.Conditions, func(k batchv1.JobCondition) bool {
			return (k.Type == batchv1.JobComplete || k.Type == batchv1.JobFailed) && k.Status == corev1.ConditionTrue
		}) {
			ended = append(ended, job)
		} else {
			active = append(active, job)
		}
	}
	slices.SortFunc(ended, func(a, b batchv1.Job) int { return scheduled(&a).Compare(scheduled(&b)) })
	return active, ended, nil
}

func scheduled(job *batchv1.Job) time.Time {
	at, err := time.Parse(time.RFC3339, job.Annotations[scheduledAt])
	if err != nil {
		return job.CreationTimestamp.Time
	}
	return at
}

// tell writes the status if it changed.
func (r *CronJobReconciler) tell(ctx context.Context, c *v1.CronJob, active, ended []batchv1.Job) error {
	was := c.Status
	c.Status.Active = int32(len(active))
	for _, job := range slices.Concat(active, ended) {
		if at := metav1.NewTime(scheduled(&job)); c.Status.LastScheduleTime.Before(&at) {
			c.Status.LastScheduleTime = &at
		}
	}
	if was.Active == c.Status.Active && was.LastScheduleTime.Equal(c.Status.LastScheduleTime) {
		return nil
	}
	return r.Status().Update(ctx, c)
}

func (r *CronJobReconciler) remove(ctx context.Context, job *batchv1.Job) error {
	return client.IgnoreNotFound(r.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.Preconditions{UID: &job.UID}))
}

// from returns the last scheduled time (at first the CronJob's creation), or the starting deadline if that is later.
func from(c *v1.CronJob, now time.Time) time.Time {
	at := c.CreationTimestamp.Time
	if last := c.Status.LastScheduleTime; last != nil {
		at = last.Time
	}
	if d := c.Spec.StartingDeadlineSeconds; d != nil {
		if earliest := now.Add(-time.Duration(*d) * time.Second); earliest.After(at) {
			at = earliest
		}
	}
	return at
}

// last returns the latest time of a schedule in the interval (from, now], or the zero time.
func last(schedule cron.Schedule, from, now time.Time) (at time.Time) {
	for t := schedule.Next(from); !t.IsZero() && !t.After(now); t = schedule.Next(t) {
		at = t
	}
	return at
}

func late(c *v1.CronJob, at, now time.Time) bool {
	d := c.Spec.StartingDeadlineSeconds
	return d != nil && at.Add(time.Duration(*d)*time.Second).Before(now)
}

// job returns the Job for a time. The time determines the name, so that there is only one.
func (r *CronJobReconciler) job(c *v1.CronJob, at time.Time) (*batchv1.Job, error) {
	spec := c.Spec.JobTemplate.DeepCopy()
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", c.Name, at.Unix()), Namespace: c.Namespace, Labels: spec.Labels,
			Annotations: map[string]string{scheduledAt: at.Format(time.RFC3339)},
		},
		Spec: spec.Spec,
	}
	return job, ctrl.SetControllerReference(c, job, r.Scheme)
}

func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.CronJob{}).Owns(&batchv1.Job{}).Complete(r)
}
