package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		{"of a bare number", "10", 11 * time.Minute, false},
		{"of no number", "c-x", time.Minute, false}, // which would be the first of all
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
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "c-10",
		Annotations: map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "then"}}}
	if oversteps(unreadable, nil, job, nil, time.Unix(660, 0), nil) != "" {
		t.Error("of a schedule that nobody can read it is not known when the next is due")
	}
}

// TestHistory: of Jobs a to c, started in that order, the last is kept.
func TestHistory(t *testing.T) {
	one, none := int32(1), int32(0)
	ended := func(name string, minute int64, how batchv1.JobConditionType) *batchv1.Job {
		at := metav1.Unix(60*minute, 0)
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: batchv1.JobStatus{StartTime: &at,
			Conditions: []batchv1.JobCondition{{Type: how, Status: corev1.ConditionTrue}}}}
	}
	a, b := ended("a", 1, batchv1.JobComplete), ended("b", 2, batchv1.JobComplete)
	c, failed := ended("c", 3, batchv1.JobComplete), ended("d", 4, batchv1.JobFailed)
	for _, x := range []struct {
		name      string
		limit     *int32
		which     *batchv1.Job
		others    []runtime.Object
		forgotten bool
	}{
		{"the first", &one, a, []runtime.Object{b, c, failed}, false},
		{"the second, while the first is left", &one, b, []runtime.Object{a, c}, false},
		{"the last", &one, c, []runtime.Object{a, b, failed}, true},
		{"the only one that has failed", &one, failed, []runtime.Object{a, b, c}, true},
		{"the last, where none is kept", &none, c, nil, false},
		{"any, where all are kept", nil, a, []runtime.Object{b, c}, true},
	} {
		cj := &batchv1.CronJob{Spec: batchv1.CronJobSpec{SuccessfulJobsHistoryLimit: x.limit,
			FailedJobsHistoryLimit: x.limit}}
		if got := oversteps(cj, x.others, x.which, nil, time.Time{}, nil); (got != "") != x.forgotten {
			t.Errorf("%s: %q", x.name, got)
		}
	}
}
