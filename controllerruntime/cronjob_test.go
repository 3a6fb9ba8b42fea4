package controllerruntime_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/scenarios/conformance"
)

// cronJobReconciler is the reconciler of kubebuilder's tutorial, for the built-in kind. It reads time.Now, creates a
// Job each minute, names it by the minute, and lists the running Jobs in the status. Unlike the tutorial's it creates
// none for a CronJob that is being deleted.
type cronJobReconciler struct {
	client.Client
	scheme *runtime.Scheme
}

const (
	jobOwnerKey = ".metadata.controller"
	scheduledAt = "batch.tutorial.kubebuilder.io/scheduled-at"
)

func (r *cronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cronJob batchv1.CronJob
	if err := r.Get(ctx, req.NamespacedName, &cronJob); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var jobs batchv1.JobList
	if err := r.List(ctx, &jobs, client.InNamespace(req.Namespace),
		client.MatchingFields{jobOwnerKey: req.Name}); err != nil {
		return ctrl.Result{}, err
	}
	cronJob.Status.Active, cronJob.Status.LastScheduleTime = nil, nil
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
		}) {
			ref, err := reference.GetReference(r.scheme, job)
			if err != nil {
				return ctrl.Result{}, err
			}
			cronJob.Status.Active = append(cronJob.Status.Active, *ref)
		}
		if at, err := time.Parse(time.RFC3339, job.Annotations[scheduledAt]); err == nil &&
			(cronJob.Status.LastScheduleTime == nil || cronJob.Status.LastScheduleTime.Time.Before(at)) {
			cronJob.Status.LastScheduleTime = &metav1.Time{Time: at}
		}
	}
	if err := r.Status().Update(ctx, &cronJob); err != nil {
		return ctrl.Result{}, err
	}
	if cronJob.DeletionTimestamp != nil || cronJob.Spec.Suspend != nil && *cronJob.Spec.Suspend {
		return ctrl.Result{}, nil
	}
	missed, next, err := nextSchedule(&cronJob, time.Now())
	if err != nil {
		return ctrl.Result{}, nil
	}
	result := ctrl.Result{RequeueAfter: time.Until(next)}
	if missed.IsZero() {
		return result, nil
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-%d", cronJob.Name, missed.Unix()), Namespace: cronJob.Namespace,
			Annotations: map[string]string{scheduledAt: missed.Format(time.RFC3339)},
		},
		Spec: *cronJob.Spec.JobTemplate.Spec.DeepCopy(),
	}
	if err := ctrl.SetControllerReference(&cronJob, job, r.scheme); err != nil {
		return result, nil
	}
	return result, r.Create(ctx, job)
}

// nextSchedule returns the last missed time and the next one.
func nextSchedule(cronJob *batchv1.CronJob, now time.Time) (missed, next time.Time, err error) {
	schedule, err := cron.ParseStandard(cronJob.Spec.Schedule)
	if err != nil {
		return missed, next, err
	}
	earliest := cronJob.CreationTimestamp.Time
	if cronJob.Status.LastScheduleTime != nil {
		earliest = cronJob.Status.LastScheduleTime.Time
	}
	starts := 0
	for t := schedule.Next(earliest); !t.After(now); t = schedule.Next(t) {
		missed = t
		if starts++; starts > 100 {
			return missed, next, fmt.Errorf("too many missed start times")
		}
	}
	return missed, schedule.Next(now), nil
}

func (r *cronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &batchv1.Job{}, jobOwnerKey,
		func(o client.Object) []string {
			owner := metav1.GetControllerOf(o)
			if owner == nil || owner.APIVersion != "batch/v1" || owner.Kind != "CronJob" {
				return nil
			}
			return []string{owner.Name}
		}); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).For(&batchv1.CronJob{}).Owns(&batchv1.Job{}).Named("cronjobs").Complete(r)
}

func cronJobs(t *testing.T) conformance.Subject {
	setup := func(mgr ctrl.Manager) error {
		return (&cronJobReconciler{mgr.GetClient(), mgr.GetScheme()}).SetupWithManager(mgr)
	}
	all, err := controllerruntime.Controllers(scheme.Scheme, setup, controllerruntime.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Subject{Controller: all[0], Samples: []string{"testdata/cronjob.yaml"}, Schedules: 5}
}

// An operator that goes by the clock, and asks time.Now, gets a verdict from its sample alone.
func TestClockDrivenOperator(t *testing.T) { conformance.Test(t, cronJobs(t)) }
