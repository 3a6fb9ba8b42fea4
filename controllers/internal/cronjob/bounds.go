package cronjob

import (
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// oversteps says that a Job at work is deleted that is of the last time of the schedule: it gives
// way to the Job of a later time, and to nothing else (EXACT-11). For which time it was started
// its name says, which nobody can change.
func oversteps(owner runtime.Object, _ []runtime.Object, before, after runtime.Object, now time.Time,
	_ func(kind string) []runtime.Object) string {
	cj, job := owner.(*batchv1.CronJob), before
	if after != nil || !running(job.(*batchv1.Job)) {
		return ""
	}
	digits, named := strings.CutPrefix(job.(*batchv1.Job).Name, cj.Name+"-")
	minutes, err := strconv.ParseInt(digits, 10, 64)
	times, unreadable := schedule(cj)
	if !named || err != nil || unreadable != nil {
		return ""
	}
	at := time.Unix(minutes*60, 0).UTC()
	scheduled := times.Next(at.Add(-time.Second)).Equal(at) // else somebody else has made it
	if scheduled && !at.After(now) && times.Next(at).After(now) {
		return "deleted before the next is due"
	}
	return ""
}
