package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOversteps(t *testing.T) {
	cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{Schedule: "*/2 * * * *"}}
	for _, c := range []struct {
		name, job string
		after     time.Duration // since 1970
		too       bool
	}{
		{"the last time", "c-10", 11 * time.Minute, true},
		{"at the next time", "c-10", 12 * time.Minute, false},
		{"a moment before", "c-10", 12*time.Minute - 1, true},
		{"of a time to come", "c-14", 11 * time.Minute, false},
		{"of no time", "c-9", 9 * time.Minute, false},
		{"of another name", "d-10", 11 * time.Minute, false},
		{"of no number", "c-x", 11 * time.Minute, false},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: c.job,
			Annotations: map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "then"}}}
		now := time.Unix(0, 0).Add(c.after)
		if got := oversteps(cj, nil, job, nil, now, nil); (got != "") != c.too {
			t.Errorf("%s: %q", c.name, got)
		}
		if oversteps(cj, nil, job, job, now, nil)+oversteps(cj, nil, nil, job, now, nil) != "" {
			t.Errorf("%s: a write is no deletion", c.name)
		}
	}
	unreadable := &batchv1.CronJob{ObjectMeta: cj.ObjectMeta, Spec: batchv1.CronJobSpec{Schedule: "now and then"}}
	ended := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "c-10"}}
	if oversteps(unreadable, nil, ended, nil, time.Unix(660, 0), nil) != "" {
		t.Error("what has ended may go")
	}
}
