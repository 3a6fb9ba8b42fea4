package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/law"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// TestDue checks for which missed time a Job is started, and the delay until the next time.
func TestDue(t *testing.T) {
	made, day := "2024-05-01T00:00:30Z", int64(86400)
	for _, c := range []struct {
		name, schedule, zone, last, now string
		deadline                        *int64
		due                             string // "" for none
		next                            time.Duration
	}{
		{name: "too early", schedule: "* * * * *", now: "2024-05-01T00:00:59Z", next: time.Second},
		{name: "on time", schedule: "* * * * *", now: "2024-05-01T00:01:00Z", due: "2024-05-01T00:01:00Z",
			next: time.Minute},
		{name: "done already", schedule: "* * * * *", last: "2024-05-01T00:01:00Z", now: "2024-05-01T00:01:30Z",
			next: 30 * time.Second},
		{name: "the last of many that were missed", schedule: "0 * * * *", now: "2024-05-03T07:30:00Z",
			due: "2024-05-03T07:00:00Z", next: 30 * time.Minute},
		{name: "none since the deadline", schedule: "0 0 * * 3", last: "2024-05-01T00:00:00Z", deadline: &day,
			now: "2024-05-09T12:00:00Z", next: 5*24*time.Hour + 12*time.Hour},
		{name: "the one since the deadline", schedule: "0 0 * * 3", last: "2024-04-01T00:00:00Z", deadline: &day,
			now: "2024-05-08T12:00:00Z", due: "2024-05-08T00:00:00Z", next: 6*24*time.Hour + 12*time.Hour},
		{name: "in a time zone", schedule: "0 9 * * *", zone: "Asia/Tokyo", now: "2024-05-01T00:30:00Z",
			due: "", next: 23*time.Hour + 30*time.Minute},
		{name: "in a time zone, later", schedule: "0 9 * * *", zone: "Asia/Tokyo", now: "2024-05-02T00:00:00Z",
			due: "2024-05-02T00:00:00Z", next: 24 * time.Hour},
		{name: "every second", schedule: "@every 1s", now: "2024-05-01T00:00:40Z", due: "2024-05-01T00:00:40Z",
			next: time.Second},
		{name: "of a leap year", schedule: "0 0 29 2 *", last: "2020-06-01T00:00:00Z", now: "2026-10-01T00:00:00Z",
			due: "2024-02-29T00:00:00Z", next: at("2028-02-29T00:00:00Z").Sub(at("2026-10-01T00:00:00Z"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(made))}}
			cj.Spec.Schedule, cj.Spec.StartingDeadlineSeconds = c.schedule, c.deadline
			if c.zone != "" {
				cj.Spec.TimeZone = &c.zone
			}
			if c.last != "" {
				last := metav1.NewTime(at(c.last))
				cj.Status.LastScheduleTime = &last
			}
			s, err := schedule(cj)
			if err != nil {
				t.Fatal(err)
			}
			got, err := due(cj, at(c.now), s)
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (c.due == "") || got != nil && !got.Equal(at(c.due)) {
				t.Errorf("%v is due, want %q", got, c.due)
			}
			if next := *untilNext(cj, at(c.now), s); next != c.next+late {
				t.Errorf("next in %s, want %s", next, c.next+late)
			}
		})
	}
}

// A schedule without a zone uses kube-controller-manager's zone, and not the local zone of the machine.
func TestScheduleIsInUTC(t *testing.T) {
	made := at("2024-05-01T00:30:00Z").In(time.FixedZone("east", 3*3600))
	cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}}
	cj.Spec.Schedule = "0 1 * * *"
	s, err := schedule(cj)
	if err != nil {
		t.Fatal(err)
	}
	got, err := due(cj, at("2024-05-01T02:00:00Z"), s)
	if err != nil || got == nil || !got.Equal(at("2024-05-01T01:00:00Z")) {
		t.Errorf("due: %v, error %v", got, err)
	}
}

var bounds = New(Without{}).Contract.Invariants[0]

func TestStayWithinBounds(t *testing.T) {
	started := func(name string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name,
			Annotations: map[string]string{batchv1.CronJobScheduledTimestampAnnotation: "then"}}}
	}
	cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{Schedule: "*/2 * * * *"}}
	for _, c := range []struct {
		name, job string
		after     time.Duration // since 1970
		too       bool
	}{
		{"the last time", "c-10", 11 * time.Minute, true},
		{"at the next time", "c-10", 12 * time.Minute, false},
		{"a moment before", "c-10", 12*time.Minute - 1, true},
		{"looks wrong: of a time to come", "c-14", 11 * time.Minute, false},
		{"of no time", "c-9", 9 * time.Minute, false},
		{"of another name", "d-10", 11 * time.Minute, false},
		{"of a bare number", "10", 11 * time.Minute, false},
		{"of no number", "c-x", time.Minute, false}, // which would be the first of all
	} {
		job, now := started(c.job), time.Unix(0, 0).Add(c.after)
		if got := bounds.Check(&law.Facts{Owner: cj, Before: job, Now: now}); (got != "") != c.too {
			t.Errorf("%s: %q", c.name, got)
		}
		if bounds.Check(&law.Facts{Owner: cj, Before: job, After: job, Now: now})+bounds.Check(&law.Facts{Owner: cj, After: job, Now: now}) != "" {
			t.Errorf("%s: a write was reported as a deletion", c.name)
		}
	}
	unreadable := &batchv1.CronJob{ObjectMeta: cj.ObjectMeta, Spec: batchv1.CronJobSpec{Schedule: "now and then"}}
	if bounds.Check(&law.Facts{Owner: unreadable, Before: started("c-10"), Now: time.Unix(660, 0)}) != "" {
		t.Error("a schedule that cannot be parsed has a next time")
	}
}

// TestHistory has Jobs a to c, which started in that order. Only the last is kept.
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
		if got := bounds.Check(&law.Facts{Owner: cj, Dependents: x.others, Before: x.which}); (got != "") != x.forgotten {
			t.Errorf("%s: %q", x.name, got)
		}
	}
}
