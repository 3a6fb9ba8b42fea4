package cronjob

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cleanUp deletes finished Jobs, the oldest first, down to the history limits. The next reconcile retries a failed
// deletion.
func (s *round) cleanUp() {
	s.trim(batchv1.JobComplete, s.cj.Spec.SuccessfulJobsHistoryLimit)
	s.trim(batchv1.JobFailed, s.cj.Spec.FailedJobsHistoryLimit)
}

func (s *round) trim(how batchv1.JobConditionType, limit *int32) {
	if limit == nil {
		return
	}
	var ended []*batchv1.Job
	for _, job := range s.jobs {
		if finished(job) == how {
			ended = append(ended, job)
		}
	}
	slices.SortFunc(ended, byStart)
	if s.without.Newest {
		slices.Reverse(ended)
	}
	for _, job := range ended[:max(0, len(ended)-int(*limit))] {
		if s.delete(job) == nil {
			s.changed = true
		}
	}
}

// byStart orders Jobs by start time and then by name; Jobs that never started come last.
func byStart(a, b *batchv1.Job) int {
	x, y := a.Status.StartTime, b.Status.StartTime
	switch {
	case x == nil && y == nil:
	case x == nil:
		return 1
	case y == nil:
		return -1
	case !x.Equal(y):
		return x.Compare(y.Time)
	}
	return cmp.Compare(a.Name, b.Name)
}

// delete deletes a Job with its Pods, and removes it from the active list. It carries the Job's uid, so another Job of
// the name survives (EXACT-4); upstream uses the name alone (RULES J91).
func (s *round) delete(job *batchv1.Job) error {
	background := metav1.DeletePropagationBackground
	opts := metav1.DeleteOptions{PropagationPolicy: &background}
	if !s.without.VictimUID {
		opts.Preconditions = &metav1.Preconditions{UID: &job.UID}
	}
	if err := s.env.Client.Delete(s.ctx, jobKind, job.Namespace, job.Name, opts); err != nil {
		return err
	}
	unlist(s.cj, job.UID)
	return nil
}
