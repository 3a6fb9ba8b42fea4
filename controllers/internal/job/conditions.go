package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// find returns the condition of a type, or nil.
func find(list []batchv1.JobCondition, of batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range list {
		if list[i].Type == of {
			return &list[i]
		}
	}
	return nil
}

// met reports whether a condition is true.
func met(j *batchv1.Job, of batchv1.JobConditionType) bool {
	c := find(j.Status.Conditions, of)
	return c != nil && c.Status == corev1.ConditionTrue
}

// finished reports whether the Job has ended, so that nothing is done for it any more (RULES I85).
func finished(j *batchv1.Job) bool { return met(j, batchv1.JobComplete) || met(j, batchv1.JobFailed) }

func suspended(j *batchv1.Job) bool { return j.Spec.Suspend != nil && *j.Spec.Suspend }

func indexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

// foreign reports whether another controller runs a Job.
func foreign(j *batchv1.Job) bool {
	return j.Spec.ManagedBy != nil && *j.Spec.ManagedBy != batchv1.JobControllerName
}

// moment returns a time as the API stores it, in whole seconds.
func moment(now time.Time) metav1.Time { return metav1.NewTime(now.Truncate(time.Second)) }

// newCondition makes a condition that is true.
func newCondition(of batchv1.JobConditionType, reason, message string, now time.Time) *batchv1.JobCondition {
	return &batchv1.JobCondition{Type: of, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		LastProbeTime: moment(now), LastTransitionTime: moment(now)}
}

// failure returns the condition that says why a Job will fail; success the one that it has succeeded. The condition
// that ends the Job follows, in the same words, when all its pods are counted.
func failure(reason, message string, now time.Time) *batchv1.JobCondition {
	return newCondition(batchv1.JobFailureTarget, reason, message, now)
}

func success(reason, message string, now time.Time) *batchv1.JobCondition {
	return newCondition(batchv1.JobSuccessCriteriaMet, reason, message, now)
}

// setCondition sets a condition and reports whether anything changed. It does not add a condition that is false.
func setCondition(s *batchv1.JobStatus, c *batchv1.JobCondition) bool {
	old := find(s.Conditions, c.Type)
	switch {
	case old == nil && c.Status == corev1.ConditionFalse:
		return false
	case old == nil:
		s.Conditions = append(s.Conditions, *c)
		return true
	case old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message:
		return false
	}
	*old = *c
	return true
}
