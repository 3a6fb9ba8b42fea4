package cronjob

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// reconcile updates the status and starts what is due. It returns the delay until the next check; nil if only a change
// can make a difference.
func (s *round) reconcile() (*time.Duration, error) {
	if s.cj.DeletionTimestamp == nil || s.without.History {
		// Upstream's cleanup goes on while the CronJob is being deleted (RULES J91).
		s.cleanUp()
	}
	forgotten, err := s.observe()
	if err != nil {
		return nil, err
	}
	if err := s.dropMissing(); err != nil {
		return nil, err
	}
	if s.cj.DeletionTimestamp != nil && !s.without.Terminating { // by the live read, if there was one
		return nil, nil // whoever deletes it decides about its Jobs (ADOPT-3)
	}
	return s.start(forgotten)
}

// observe removes from the status the Jobs that the cache shows as finished. It returns the number of running Jobs that
// the status does not list: the controller was killed after starting them, or the user edited the status.
func (s *round) observe() (forgotten int, err error) {
	for _, job := range s.jobs {
		switch known := listed(s.cj, job.UID); {
		case finished(job) != "":
			if known {
				unlist(s.cj, job.UID)
				s.changed = true
			}
			s.noteSuccess(job)
		case !known && !s.polls:
			known, err := s.lookAgain(job.UID)
			if err != nil {
				return 0, err
			}
			if known {
				return s.observe() // start again with what was read
			}
			if scheduledAt(job) != "" && job.DeletionTimestamp == nil {
				forgotten++
			}
		}
	}
	return forgotten, nil
}

// lookAgain reads the CronJob live: the cache may show a Job before the status that lists it (RULES J90). If so, the
// round continues with what was read.
func (s *round) lookAgain(job types.UID) (bool, error) {
	obj, err := s.env.Client.Get(s.ctx, cronJobKind, s.cj.Namespace, s.cj.Name)
	if err != nil {
		return false, err
	}
	live := obj.(*batchv1.CronJob)
	if live.UID != s.cj.UID {
		return false, fmt.Errorf("CronJob %s/%s is another now: uid %s, was %s", live.Namespace, live.Name, live.UID,
			s.cj.UID)
	}
	if !listed(live, job) {
		return false, nil
	}
	s.cj = live.DeepCopy()
	return true, nil
}

// noteSuccess records when the last successful Job completed.
func (s *round) noteSuccess(job *batchv1.Job) {
	done, last := job.Status.CompletionTime, s.cj.Status.LastSuccessfulTime
	if finished(job) != batchv1.JobComplete || done == nil || last != nil && !done.After(last.Time) {
		return
	}
	s.cj.Status.LastSuccessfulTime = done
	s.changed = true
}

// dropMissing removes from the status Jobs that are gone. A Job missing from the cache may only be late, so it reads
// from the server (RULES J90). A Job that has taken the name is another one; upstream keeps the entry for it.
func (s *round) dropMissing() error {
	if s.without.Missing {
		return nil
	}
	shown := map[types.UID]bool{}
	for _, job := range s.jobs {
		shown[job.UID] = true
	}
	for _, ref := range append([]corev1.ObjectReference(nil), s.cj.Status.Active...) {
		if shown[ref.UID] {
			continue
		}
		gone := s.without.LiveChild
		if !gone {
			obj, err := s.env.Client.Get(s.ctx, jobKind, ref.Namespace, ref.Name)
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			gone = err != nil || obj.(*batchv1.Job).UID != ref.UID && !s.without.LiveUID
		}
		if gone {
			unlist(s.cj, ref.UID)
			s.changed = true
		}
	}
	return nil
}
