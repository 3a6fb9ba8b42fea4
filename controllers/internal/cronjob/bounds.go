package cronjob

import (
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// oversteps reports the deletion of a running Job of the schedule's last time: only the Job of a later time may replace
// it (EXACT-11). The Job's name, which is immutable, tells its time.
func oversteps(owner runtime.Object, others []runtime.Object, before, after runtime.Object, now time.Time,
	_ func(kind string) []runtime.Object) string {
	cj, job := owner.(*batchv1.CronJob), before
	if after != nil {
		return ""
	}
	if how := finished(job.(*batchv1.Job)); how != "" {
		return forgets(cj, job.(*batchv1.Job), how, others)
	}
	if !running(job.(*batchv1.Job)) {
		return ""
	}
	digits, named := strings.CutPrefix(job.(*batchv1.Job).Name, cj.Name+"-")
	minutes, err := strconv.ParseInt(digits, 10, 64)
	times, unreadable := schedule(cj)
	if !named || err != nil || unreadable != nil {
		return ""
	}
	at := time.Unix(minutes*60, 0).UTC()
	scheduled := times.Next(at.Add(-time.Second)).Equal(at) // otherwise somebody else created it
	if scheduled && !at.After(now) && times.Next(at).After(now) {
		return "deleted before the next is due"
	}
	return ""
}

// forgets reports the deletion of an ended Job that the history limit keeps: it is among the last to have begun of
// those that ended so.
func forgets(cj *batchv1.CronJob, job *batchv1.Job, how batchv1.JobConditionType, others []runtime.Object) string {
	limit, newer := cj.Spec.SuccessfulJobsHistoryLimit, 0
	if how == batchv1.JobFailed {
		limit = cj.Spec.FailedJobsHistoryLimit
	}
	for _, obj := range others {
		if j := obj.(*batchv1.Job); finished(j) == how && byStart(j, job) > 0 {
			newer++
		}
	}
	if limit == nil || newer < int(*limit) {
		return "deleted though it is among the last that are kept"
	}
	return ""
}
