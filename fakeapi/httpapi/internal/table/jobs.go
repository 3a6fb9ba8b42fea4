package table

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

var (
	jobSpec    = batchv1.JobSpec{}.SwaggerDoc()
	cronSpec   = batchv1.CronJobSpec{}.SwaggerDoc()
	cronStatus = batchv1.CronJobStatus{}.SwaggerDoc()

	jobs = prints(jobCells, nameColumn, text("Status", "Status of the job."),
		text("Completions", batchv1.JobStatus{}.SwaggerDoc()["succeeded"]),
		text("Duration", "Time required to complete the job."), ageColumn,
		containersColumn, imagesColumn, wide("Selector", jobSpec["selector"]))
	cronJobs = prints(cronJobCells, nameColumn, text("Schedule", cronSpec["schedule"]),
		text("Timezone", cronSpec["timeZone"]),
		column{Name: "Suspend", Type: "boolean", Description: cronSpec["suspend"]},
		number("Active", cronStatus["active"]), text("Last Schedule", cronStatus["lastScheduleTime"]), ageColumn,
		containersColumn, imagesColumn, wide("Selector", jobSpec["selector"]))
)

func jobCells(o *batchv1.Job, now time.Time) []any {
	names, images := containers(o.Spec.Template.Spec.Containers)
	completions := fmt.Sprintf("%d/1", o.Status.Succeeded)
	if o.Spec.Completions != nil {
		completions = fmt.Sprintf("%d/%d", o.Status.Succeeded, *o.Spec.Completions)
	} else if n := deref(o.Spec.Parallelism); n > 1 {
		completions = fmt.Sprintf("%d/1 of %d", o.Status.Succeeded, n)
	}
	took := ""
	switch start, end := o.Status.StartTime, o.Status.CompletionTime; {
	case start == nil:
	case end == nil:
		took = duration.HumanDuration(now.Sub(start.Time))
	default:
		took = duration.HumanDuration(end.Sub(start.Time))
	}
	return []any{o.Name, jobState(o), completions, took, since(o.CreationTimestamp, now),
		names, images, metav1.FormatLabelSelector(o.Spec.Selector)}
}

func jobState(o *batchv1.Job) string {
	has := func(t batchv1.JobConditionType) bool {
		for i := range o.Status.Conditions {
			if o.Status.Conditions[i].Type == t {
				return o.Status.Conditions[i].Status == corev1.ConditionTrue
			}
		}
		return false
	}
	switch {
	case has(batchv1.JobComplete):
		return "Complete"
	case has(batchv1.JobFailed):
		return "Failed"
	case o.DeletionTimestamp != nil:
		return "Terminating"
	case has(batchv1.JobSuspended):
		return "Suspended"
	case has(batchv1.JobFailureTarget):
		return "FailureTarget"
	case has(batchv1.JobSuccessCriteriaMet):
		return "SuccessCriteriaMet"
	}
	return "Running"
}

func cronJobCells(o *batchv1.CronJob, now time.Time) []any {
	names, images := containers(o.Spec.JobTemplate.Spec.Template.Spec.Containers)
	last, zone, suspend := "<none>", "<none>", "<unset>"
	if t := o.Status.LastScheduleTime; t != nil {
		last = since(*t, now)
	}
	if o.Spec.TimeZone != nil {
		zone = *o.Spec.TimeZone
	}
	if o.Spec.Suspend != nil {
		suspend = "False"
		if *o.Spec.Suspend {
			suspend = "True"
		}
	}
	return []any{o.Name, o.Spec.Schedule, zone, suspend, int64(len(o.Status.Active)), last,
		since(o.CreationTimestamp, now), names, images, metav1.FormatLabelSelector(o.Spec.JobTemplate.Spec.Selector)}
}
