package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

func jobIs(j *batchv1.Job, is batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == is && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

func jobFinished(j *batchv1.Job) bool {
	return jobIs(j, batchv1.JobComplete) || jobIs(j, batchv1.JobFailed)
}

// JobStatus checks a write to the status: what is finished stays so, and counts go up.
func JobStatus(j, old *batchv1.Job) (errs field.ErrorList) {
	s, was := &j.Status, &old.Status
	conditions := statusPath.Child("conditions")
	say := func(bad bool, err *field.Error) {
		if bad {
			errs = append(errs, err)
		}
	}
	state := func(text string) *field.Error { return field.Invalid(conditions, field.OmitValueType{}, text) }
	changed := func(is batchv1.JobConditionType) bool { return jobIs(j, is) != jobIs(old, is) }
	complete, failed, met, target := jobIs(j, batchv1.JobComplete), jobIs(j, batchv1.JobFailed),
		jobIs(j, batchv1.JobSuccessCriteriaMet), jobIs(j, batchv1.JobFailureTarget)
	finished, finishedChanged := jobFinished(j), jobFinished(j) != jobFinished(old)
	startChanged, endChanged := !same.Time(s.StartTime, was.StartTime), !same.Time(s.CompletionTime, was.CompletionTime)
	for _, c := range [...]count{{"active", s.Active}, {"succeeded", s.Succeeded}, {"failed", s.Failed}} {
		errs = append(errs, nonNegative(int64(c.n), statusPath, c.name)...)
	}
	for _, c := range [...]struct {
		name string
		n    *int32
	}{{"ready", s.Ready}, {"terminating", s.Terminating}} {
		if c.n != nil {
			errs = append(errs, nonNegative(int64(*c.n), statusPath, c.name)...)
		}
	}
	say((changed(batchv1.JobComplete) || changed(batchv1.JobFailed)) && complete && failed,
		state("cannot set Complete=True and Failed=true conditions"))
	say((changed(batchv1.JobComplete) || changed(batchv1.JobFailureTarget)) && complete && target,
		state("cannot set Complete=True and FailureTarget=true conditions"))
	end := statusPath.Child("completionTime")
	if changed(batchv1.JobComplete) || endChanged {
		say(s.CompletionTime != nil && !complete,
			field.Invalid(end, s.CompletionTime, "cannot set completionTime when there is no Complete=True condition"))
		say(s.CompletionTime == nil && complete, field.Required(end, "completionTime is required for Complete jobs"))
	}
	say((startChanged || endChanged) && s.StartTime != nil && s.CompletionTime != nil &&
		s.CompletionTime.Before(s.StartTime),
		field.Invalid(end, s.CompletionTime, "must be equal to or after `startTime`"))
	say(changed(batchv1.JobFailed) && failed && !target,
		state("cannot set Failed=True condition without the FailureTarget=true condition"))
	say((changed(batchv1.JobComplete) || changed(batchv1.JobSuccessCriteriaMet)) && complete && !met,
		state("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
	say((finishedChanged || s.Active != was.Active) && s.Active > 0 && finished,
		field.Invalid(statusPath.Child("active"), s.Active, "active>0 is invalid for finished job"))
	idle := j.Spec.Suspend != nil && *j.Spec.Suspend && j.Spec.Completions != nil && *j.Spec.Completions == 0
	say((finishedChanged || startChanged) && !idle && s.StartTime == nil && finished,
		field.Required(statusPath.Child("startTime"), "startTime is required for finished job"))
	errs = append(errs, validateDone(j, old)...)
	readyChanged := !equality.Semantic.DeepEqual(s.Ready, was.Ready) || s.Active != was.Active
	if s.Ready != nil {
		say(readyChanged && *s.Ready > s.Active,
			field.Invalid(statusPath.Child("ready"), *s.Ready, "cannot set more ready pods than active"))
	}
	say(met && failed, state("cannot set SuccessCriteriaMet=True and Failed=true conditions"))
	say(met && target, state("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"))
	for _, is := range [...]batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		say(jobIs(old, is) && !jobIs(j, is), state(fmt.Sprintf("cannot disable the terminal %s=True condition", is)))
	}
	say(s.Failed < was.Failed, field.Invalid(statusPath.Child("failed"), s.Failed,
		"cannot decrease the failed counter"))
	elastic := indexed(j) &&
		equality.Semantic.DeepEqual(j.Spec.Completions, j.Spec.Parallelism)
	say(!elastic && s.Succeeded < was.Succeeded,
		field.Invalid(statusPath.Child("succeeded"), s.Succeeded, "cannot decrease the succeeded counter"))
	say(s.CompletionTime != nil && was.CompletionTime != nil && endChanged,
		field.Invalid(end, s.CompletionTime, "field is immutable"))
	say(startChanged && was.StartTime != nil && !(j.Spec.Suspend != nil && *j.Spec.Suspend) &&
		!jobIs(old, batchv1.JobSuspended),
		field.Invalid(statusPath.Child("startTime"), s.StartTime, "field is immutable for unsuspended job once set"))
	say(jobIs(old, batchv1.JobSuccessCriteriaMet) && !met,
		state("cannot disable the SuccessCriteriaMet=True condition"))
	return errs
}

// validateDone checks which indexes are done, where it matters that something changed.
func validateDone(j, old *batchv1.Job) (errs field.ErrorList) {
	s, was := &j.Status, &old.Status
	completed := s.CompletedIndexes != was.CompletedIndexes
	failed := !equality.Semantic.DeepEqual(s.FailedIndexes, was.FailedIndexes)
	indexed := indexed(j)
	at, of := statusPath.Child("completedIndexes"), statusPath.Child("failedIndexes")
	if completed && j.Spec.Completions != nil {
		if _, err := countIndexes(s.CompletedIndexes, *j.Spec.Completions); err != nil {
			errs = append(errs, field.Invalid(at, s.CompletedIndexes, "error parsing completedIndexes: "+err.Error()))
		}
	}
	perIndex := j.Spec.BackoffLimitPerIndex != nil
	if failed && perIndex && j.Spec.Completions != nil && s.FailedIndexes != nil {
		if _, err := countIndexes(*s.FailedIndexes, *j.Spec.Completions); err != nil {
			errs = append(errs, field.Invalid(of, s.FailedIndexes, "error parsing failedIndexes: "+err.Error()))
		}
	}
	if completed && s.CompletedIndexes != "" && !indexed {
		errs = append(errs, field.Invalid(at, s.CompletedIndexes,
			"cannot set non-empty completedIndexes when non-indexed completion mode"))
	}
	if failed && !perIndex && s.FailedIndexes != nil {
		errs = append(errs, field.Invalid(of, *s.FailedIndexes,
			"cannot set non-null failedIndexes when backoffLimitPerIndex is null"))
	}
	return errs
}

// indexed reports whether a Job is done by indexes. One that an earlier server stored may
// not say.
func indexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}
