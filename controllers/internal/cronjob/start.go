package cronjob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // so that time zones do not depend on the machine's database

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
	"github.com/threelaws/threelaws/controllers/internal/routing"
	"github.com/threelaws/threelaws/sim/host"
)

// start starts the Job that is due, if any, and returns the delay until the next check. A CronJob that is suspended, or
// whose schedule or time zone cannot be parsed, is not checked again until it changes.
func (s *round) start(forgotten int) (*time.Duration, error) {
	if suspended(s.cj) && !s.without.Suspended {
		return nil, nil
	}
	times, err := schedule(s.cj)
	if err != nil {
		return nil, nil
	}
	at, err := due(s.cj, s.now, times)
	if err != nil {
		return nil, nil
	}
	if at != nil && !s.started(*at) {
		wait, err := s.clear(*at, forgotten)
		if err != nil {
			return nil, err
		}
		if !wait {
			if err := s.create(*at); err != nil {
				return nil, err
			}
		}
	}
	return untilNext(s.cj, s.now, times), nil
}

// started reports whether the status lists the Job of this scheduled time. It need not check the last start and the
// starting deadline, because [due] returns no time before them.
func (s *round) started(at time.Time) bool {
	name := s.jobName(at)
	return slices.ContainsFunc(s.cj.Status.Active, func(r corev1.ObjectReference) bool {
		return r.Name == name && r.Namespace == s.cj.Namespace
	})
}

// clear applies the concurrency policy before a start. With Forbid, wait is true if a Job runs. With Replace, clear
// deletes the running Jobs. forgotten is the number of running Jobs that the status does not list. Upstream does not
// count them, and starts another Job.
func (s *round) clear(at time.Time, forgotten int) (wait bool, err error) {
	if s.without.Forgotten {
		forgotten = 0
	}
	switch s.cj.Spec.ConcurrencyPolicy {
	case batchv1.ForbidConcurrent:
		return len(s.cj.Status.Active)+forgotten > 0 && !s.without.Running, nil
	case batchv1.ReplaceConcurrent:
		if s.without.Running {
			return false, nil
		}
		return false, s.replace(at, forgotten > 0)
	}
	return false, nil
}

// replace deletes the running Jobs, after reading each from the server. It keeps a Job that the CronJob does not own
// (LAW-2). Upstream deletes it. replace also keeps the Job for the scheduled time at. This Job exists if the controller
// was killed after starting it. Then create adds the Job to the status.
func (s *round) replace(at time.Time, forgotten bool) error {
	known := s.cj.DeepCopy()
	for _, ref := range known.Status.Active {
		s.changed = true
		if err := s.replaceOne(ref.Namespace, ref.Name, ref.UID); err != nil {
			return err
		}
	}
	if !forgotten {
		return nil
	}
	for _, job := range s.jobs {
		due := job.Name == s.jobName(at) && !s.without.Itself
		if running(job) && job.DeletionTimestamp == nil && !listed(known, job.UID) && !due {
			if err := s.replaceForgotten(job); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// replaceForgotten deletes a Job that the cache shows and the status does not list.
func (s *round) replaceForgotten(job *batchv1.Job) error {
	if s.without.Unread {
		return s.delete(job)
	}
	return s.replaceOne(job.Namespace, job.Name, job.UID)
}

// replaceOne reads a Job from the server. It deletes the Job if the CronJob controls it. Otherwise it removes the Job
// from the status.
func (s *round) replaceOne(namespace, name string, uid types.UID) error {
	obj, err := s.env.Client.Get(s.ctx, jobKind, namespace, name)
	if err != nil {
		return err
	}
	job := obj.(*batchv1.Job)
	if !metav1.IsControlledBy(job, s.cj) && !s.without.Victim {
		unlist(s.cj, uid)
		return nil
	}
	return s.delete(job)
}

// create starts the Job for a scheduled time and lists it in the status. If a Job of another owner has this name,
// create does nothing until the next scheduled time. Upstream waits for another event.
func (s *round) create(at time.Time) error {
	obj, err := s.env.Client.Create(s.ctx, s.newJob(at))
	if apierrors.IsAlreadyExists(err) {
		// An earlier reconcile could not write the status, or another owner has the Job (RULES J89).
		obj, err = s.env.Client.Get(s.ctx, jobKind, s.cj.Namespace, s.jobName(at))
		if err != nil {
			return err
		}
		job := obj.(*batchv1.Job)
		if !metav1.IsControlledBy(job, s.cj) && !s.without.AnyOwner || listed(s.cj, job.UID) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	job := obj.(*batchv1.Job)
	s.cj.Status.Active = append(slices.Clone(s.cj.Status.Active), corev1.ObjectReference{
		APIVersion: jobKind.GroupVersion().String(), Kind: jobKind.Kind,
		Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
	})
	s.cj.Status.LastScheduleTime = &metav1.Time{Time: at}
	s.changed = true
	return nil
}

// jobName returns the name of the Job for a scheduled time. The name ends with the time in minutes since 1970, or in
// the polling eras with the time in seconds.
func (s *round) jobName(at time.Time) string {
	if s.polls {
		return fmt.Sprintf("%s-%d", s.cj.Name, at.Unix())
	}
	return fmt.Sprintf("%s-%d", s.cj.Name, at.Unix()/60)
}

// newJob returns the Job for a scheduled time, made from the template. The Job has an annotation with the time in the
// CronJob's time zone. Except in the selector era, it is created with its ControllerRef (LAW-1).
func (s *round) newJob(at time.Time) *batchv1.Job {
	template := &s.cj.Spec.JobTemplate
	zone := time.UTC
	if name := s.cj.Spec.TimeZone; name != nil {
		if l, err := time.LoadLocation(*name); err == nil {
			zone = l
		}
	}
	annotations := maps.Clone(template.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[batchv1.CronJobScheduledTimestampAnnotation] = at.In(zone).Format(time.RFC3339)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.cj.Namespace, Name: s.jobName(at),
			Labels: maps.Clone(template.Labels), Annotations: annotations,
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if s.without.Name {
		job.Name, job.GenerateName = "", s.cj.Name+"-"
	}
	if s.polls {
		job.Annotations = createdby.Annotate(job.Annotations, s.cj, cronJobKind)
	}
	if !s.without.TakeOwned {
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.cj, cronJobKind)}
	}
	return job
}

// late is added to the scheduled time of a requeue, so that clock differences do not make the reconcile early.
const late = 100 * time.Millisecond

func schedule(cj *batchv1.CronJob) (cron.Schedule, error) {
	text := cj.Spec.Schedule
	if cj.Spec.TimeZone != nil { // the server refuses a schedule that names another time zone
		text = "TZ=" + *cj.Spec.TimeZone + " " + text
	}
	return cron.ParseStandard(text)
}

type missed struct {
	since time.Time  // passed looks for times after this one
	last  *time.Time // the latest scheduled time that has passed; nil if none was found
	some  bool       // at least two scheduled times have passed, even if last is nil
}

var errTooDense = errors.New("two times of the schedule are less than a second apart")

// passed returns the latest scheduled time that has passed since the last start, or since the CronJob's creation. If
// deadline is set, it ignores times before the starting deadline.
//
// It does not list missed times one by one. It estimates their number from the distance between the first two, and
// looks for the last one near the estimate. If the times are dense at night and rare by day, it may find none.
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
	m.since = m.since.UTC() // schedules without a time zone use the zone of kube-controller-manager, UTC
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
		return m, errTooDense // also if there is no next time, as with 31 February
	}
	m.some = true
	fit := int64(now.Sub(first).Seconds()) / between
	from := first.Add(time.Duration((fit-1)*between) * time.Second)
	for t := s.Next(from); !t.After(now); t = s.Next(t) {
		m.last = &t
	}
	return m, nil
}

// due returns the scheduled time for which a Job must be started now, or nil.
func due(cj *batchv1.CronJob, now time.Time, s cron.Schedule) (*time.Time, error) {
	m, err := passed(cj, now, s, true)
	return m.last, err
}

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

// rescheduleMark is part of the queue key of a CronJob whose schedule changed. No name can contain it.
const rescheduleMark = "/rescheduled:"

func rescheduled(key string) (cj string, ok bool) {
	namespace, name, ok := strings.Cut(key, rescheduleMark)
	return namespace + "/" + name, ok
}

// cronJobRoute returns the route of CronJob events. If the schedule or time zone changed, the CronJob is only requeued
// for its next time. A time that has already passed then starts a Job only if another event comes before.
func cronJobRoute(without *Without) host.Route {
	own := routing.Own(cronJobKind, &without.Routing)
	return host.Route{Kind: cronJobKind, Do: func(v host.View, e host.Event, out *host.Effect) {
		old, _ := e.Old.(*batchv1.CronJob)
		cur, _ := e.New.(*batchv1.CronJob)
		if old != nil && cur != nil && old.UID == cur.UID && times(old) != times(cur) {
			out.Keys = append(out.Keys, cur.Namespace+rescheduleMark+cur.Name)
			return
		}
		own.Do(v, e, out)
	}}
}

func times(cj *batchv1.CronJob) string {
	if cj.Spec.TimeZone == nil {
		return cj.Spec.Schedule
	}
	return "TZ=" + *cj.Spec.TimeZone + " " + cj.Spec.Schedule
}

// await requeues a CronJob for its next time, unless its schedule cannot be parsed.
func (r *reconciler) await(key string) {
	obj, exists, _ := r.cronJobs.GetByKey(key)
	if !exists {
		return
	}
	cj := obj.(*batchv1.CronJob)
	if s, err := schedule(cj); err == nil {
		r.env.Queue.AddAfter(key, *untilNext(cj, r.env.Now(), s))
	}
}
