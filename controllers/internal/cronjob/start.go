package cronjob

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/createdby"
)

// start starts the due Job, if any, and returns the delay until the next check. A suspended CronJob, or one with an
// unreadable schedule or time zone, has nothing due: it waits for its user.
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

// started reports whether the status lists the Job of that time. [due] excludes times before the last start or the
// starting deadline.
func (s *round) started(at time.Time) bool {
	name := s.jobName(at)
	return slices.ContainsFunc(s.cj.Status.Active, func(r corev1.ObjectReference) bool {
		return r.Name == name && r.Namespace == s.cj.Namespace
	})
}

// clear applies the concurrency policy before a start: it returns wait, or deletes the running Jobs. A running Job that
// the status does not list counts too; upstream overlooks it and starts another.
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

// replace deletes the running Jobs. It reads each live first; one that the CronJob does not own any more, or another of
// that name, survives (LAW-2). Upstream deletes whatever has the name. An unlisted Job may be the one that is due,
// started before the controller was killed: it is listed instead.
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

// replaceForgotten deletes a Job that only the cache shows, without knowing its current owner.
func (s *round) replaceForgotten(job *batchv1.Job) error {
	if s.without.Unread {
		return s.delete(job)
	}
	return s.replaceOne(job.Namespace, job.Name, job.UID)
}

// replaceOne deletes the Job of a name, after a live read.
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

// create starts the Job of a time and lists it in the status. If another owner's Job has the name, that time has no Job
// and the next one is waited for. Upstream waits for another event.
func (s *round) create(at time.Time) error {
	obj, err := s.env.Client.Create(s.ctx, s.newJob(at))
	if apierrors.IsAlreadyExists(err) {
		// It was started, but the status could not be written; or another owner has it (RULES J89).
		obj, err = s.env.Client.Get(s.ctx, jobKind, s.cj.Namespace, s.jobName(at))
		if err != nil {
			return err
		}
		job := obj.(*batchv1.Job)
		if !metav1.IsControlledBy(job, s.cj) && !s.without.Stranger || listed(s.cj, job.UID) {
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

// jobName returns the name of the Job of a time: there is one per minute. The polling eras counted seconds.
func (s *round) jobName(at time.Time) string {
	if s.polls {
		return fmt.Sprintf("%s-%d", s.cj.Name, at.Unix())
	}
	return fmt.Sprintf("%s-%d", s.cj.Name, at.Unix()/60)
}

// newJob makes the Job of a time from the template. It has the ControllerRef from the start (LAW-1), and the time in
// the CronJob's time zone.
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
