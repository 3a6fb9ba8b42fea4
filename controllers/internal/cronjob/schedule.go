package cronjob

import (
	"errors"
	"time"
	_ "time/tzdata" // a time zone means the same on a machine that has no database of them

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
)

// late is how long after its time a CronJob is looked at, so that clocks that
// differ a little do not look too early.
const late = 100 * time.Millisecond

// schedule parses a CronJob's schedule. One in a time zone of the spec is as if it
// named the zone itself.
func schedule(cj *batchv1.CronJob) (cron.Schedule, error) {
	text := cj.Spec.Schedule
	if cj.Spec.TimeZone != nil { // the server takes no schedule that names one as well
		text = "TZ=" + *cj.Spec.TimeZone + " " + text
	}
	return cron.ParseStandard(text)
}

// missed is what of a schedule has passed.
type missed struct {
	since time.Time  // where the count begins
	last  *time.Time // the latest time that has passed; nil for none
	some  bool       // whether any has, although none may be found again
}

var errTooDense = errors.New("two times of the schedule are less than a second apart")

// passed looks for the latest time of a schedule that is over. It counts from the
// last start, or from the CronJob's creation, and not from before the starting
// deadline where that is to count.
//
// Times that were missed are not listed one by one: how many fit between the
// first of them and now is taken from the distance of the first two, and the last
// is looked for from there. A schedule that is dense in the night and rare by day
// may so be taken for one that has nothing due.
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
	m.since = m.since.UTC() // kube-controller-manager's own time zone, where the schedule names none
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
		return m, errTooDense // as the 31st of February is, which never comes
	}
	m.some = true
	fit := int64(now.Sub(first).Seconds()) / between
	from := first.Add(time.Duration((fit-1)*between) * time.Second)
	for t := s.Next(from); !t.After(now); t = s.Next(t) {
		m.last = &t
	}
	return m, nil
}

// due is the time for which a Job is to be started; nil for none.
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
