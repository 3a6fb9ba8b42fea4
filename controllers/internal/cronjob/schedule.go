package cronjob

import (
	"errors"
	"time"
	_ "time/tzdata" // a time zone means the same on a machine without a time zone database

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// late delays the reconcile of a CronJob after its time, so that slightly different clocks do not make it early.
const late = 100 * time.Millisecond

// schedule parses a CronJob's schedule. A time zone in the spec works like one in the schedule.
func schedule(cj *batchv1.CronJob) (cron.Schedule, error) {
	text := cj.Spec.Schedule
	if cj.Spec.TimeZone != nil { // the server refuses a schedule that also names one
		text = "TZ=" + *cj.Spec.TimeZone + " " + text
	}
	return cron.ParseStandard(text)
}

// missed describes the passed times of a schedule.
type missed struct {
	since time.Time  // where counting begins
	last  *time.Time // the latest passed time; nil for none
	some  bool       // whether any time passed, although it may not be found again
}

var errTooDense = errors.New("two times of the schedule are less than a second apart")

// passed finds the latest passed time of a schedule. It counts from the last start, or from the CronJob's creation, but
// not from before the starting deadline if that counts.
//
// It does not list missed times one by one. It derives their number from the distance of the first two, and looks for
// the last one from there. A schedule that is dense at night and rare by day may thus seem to have nothing due.
func passed(cj *batchv1.CronJob, now time.Time, s cron.Schedule, deadline bool) (missed, error) {
	m := missed{since: cj.CreationTimestamp.Time}
	if t := cj.Status.LastScheduleTime; t != nil {
		m.since = t.Time
	}
	if d := cj.Spec.StartingDeadlineSeconds; deadline && d != nil {
		if t := now.Add(-time.Duration(*d) * time.Second); t.After(m.since) {
			m.since = t
		}
	}
	m.since = m.since.UTC() // kube-controller-manager's own time zone, for schedules without one
	first := s.Next(m.since)
	second := s.Next(first)
	switch {
	case now.Before(first):
		return m, nil
	case now.Before(second):
		m.last = &first
		return m, nil
	}
	between := int64(second.Sub(first).Round(time.Second).Seconds())
	if between < 1 {
		return m, errTooDense // such as the 31st of February, which never comes
	}
	m.some = true
	fit := int64(now.Sub(first).Seconds()) / between
	from := first.Add(time.Duration((fit-1)*between) * time.Second)
	for t := s.Next(from); !t.After(now); t = s.Next(t) {
		m.last = &t
	}
	return m, nil
}

// due returns the time for which to start a Job, or nil.
func due(cj *batchv1.CronJob, now time.Time, s cron.Schedule) (*time.Time, error) {
	m, err := passed(cj, now, s, true)
	return m.last, err
}

// untilNext is how long it is to the schedule's next time.
func untilNext(cj *batchv1.CronJob, now time.Time, s cron.Schedule) *time.Duration {
	m, err := passed(cj, now, s, false)
	from := now
	switch {
	case err != nil:
	case m.last != nil:
		from = *m.last
	case !m.some:
		from = m.since
	}
	d := s.Next(from.UTC()).Add(late).Sub(now)
	return &d
}
