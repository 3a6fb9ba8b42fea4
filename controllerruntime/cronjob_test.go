package controllerruntime_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/threelaws/threelaws/controllerruntime"
	"github.com/threelaws/threelaws/scenarios/conformance"
)

// minutely reads time.Now, creates a Job for each CronJob each minute, and names it by the minute.
type minutely struct{ client.Client }

func (r *minutely) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cronJob batchv1.CronJob
	if err := r.Get(ctx, req.NamespacedName, &cronJob); err != nil || cronJob.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	minute := time.Now().Truncate(time.Minute)
	job := &batchv1.Job{Spec: *cronJob.Spec.JobTemplate.Spec.DeepCopy(), ObjectMeta: metav1.ObjectMeta{
		Namespace: cronJob.Namespace, Name: fmt.Sprintf("%s-%d", cronJob.Name, minute.Unix())}}
	if err := ctrl.SetControllerReference(&cronJob, job, r.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	next := ctrl.Result{RequeueAfter: time.Until(minute.Add(time.Minute))}
	return next, client.IgnoreAlreadyExists(r.Create(ctx, job))
}

// An operator that goes by the clock, and asks time.Now, gets a verdict from its sample alone.
func TestClockDrivenOperator(t *testing.T) {
	setup := func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).For(&batchv1.CronJob{}).Owns(&batchv1.Job{}).Named("cronjobs").
			Complete(&minutely{mgr.GetClient()})
	}
	all := controllers(t, scheme.Scheme, setup, controllerruntime.Options{})
	conformance.Test(t, conformance.Subject{Controller: all[0], Samples: []string{"testdata/cronjob.yaml"}, Schedules: 5})
}
