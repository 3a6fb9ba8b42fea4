package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

// TestDue: which missed time is made up for, and how long it is to the next.
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
			switch {
			case got == nil && c.due != "":
				t.Errorf("nothing is due, want %s", c.due)
			case got != nil && (c.due == "" || !got.Equal(at(c.due))):
				t.Errorf("%s is due, want %q", got, c.due)
			}
			if next := *untilNext(cj, at(c.now), s); next != c.next+late {
				t.Errorf("next in %s, want %s", next, c.next+late)
			}
		})
	}
}

// A schedule without a zone uses kube-controller-manager's zone, whatever the local zone of the machine.
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
		t.Errorf("%v is due (%v)", got, err)
	}
}

// TestScheduleThatNeverComes: an error, without retries.
func TestScheduleThatNeverComes(t *testing.T) {
	cj := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at("2024-05-01T00:00:00Z"))}}
	cj.Spec.Schedule = "59 23 31 2 *"
	s, err := schedule(cj)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := due(cj, at("2024-06-01T00:00:00Z"), s); err == nil {
		t.Errorf("%v is due, on the 31st of February", got)
	}
}
