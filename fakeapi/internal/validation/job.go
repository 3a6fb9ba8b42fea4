package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

// Job checks a new Job. prefixed says that its Pods are labelled under the newer names as well.
func Job(j *batchv1.Job, prefixed bool) field.ErrorList {
	errs := validateGenerated(j, prefixed)
	errs = append(errs, validateJobSpec(&j.Spec)...)
	if *j.Spec.CompletionMode == batchv1.IndexedCompletion && j.Spec.Completions != nil && *j.Spec.Completions > 0 {
		host := fmt.Sprintf("%s-%d", j.Name, *j.Spec.Completions-1)
		if len(utilvalidation.IsDNS1123Label(host)) > 0 {
			errs = append(errs, field.Invalid(metadata.Path.Child("name"), j.Name,
				"will not able to create pod with invalid DNS label: "+host))
		}
	}
	return errs
}

// validateGenerated checks that a generated selector and the labels it goes
// with are those of this Job (JOBSEL-4).
func validateGenerated(j *batchv1.Job, prefixed bool) (errs field.ErrorList) {
	if *j.Spec.ManualSelector || j.Spec.Selector == nil {
		return nil
	}
	path := specPath.Child("template", "metadata", "labels")
	want := []struct{ key, value string }{{LegacyControllerUID, string(j.UID)}, {LegacyJobName, j.Name}}
	if prefixed {
		want = append(want, struct{ key, value string }{batchv1.ControllerUidLabel, string(j.UID)},
			struct{ key, value string }{batchv1.JobNameLabel, j.Name})
	}
	expected := labels.Set{}
	for _, l := range want {
		expected[l.key] = l.value
		have, ok := j.Spec.Template.Labels[l.key]
		switch {
		case !ok:
			errs = append(errs, field.Required(path.Key(l.key), "must be '"+l.value+"'"))
		case have != l.value:
			errs = append(errs, field.Invalid(path.Key(l.key), j.Spec.Template.Labels, "must be '"+l.value+"'"))
		}
	}
	if sel, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !sel.Matches(expected) {
		errs = append(errs, field.Invalid(specPath.Child("selector"), j.Spec.Selector, "`selector` not auto-generated"))
	}
	return errs
}

func validateJobSpec(s *batchv1.JobSpec) field.ErrorList {
	errs := validateJobFields(s, specPath)
	if s.Selector == nil {
		errs = append(errs, field.Required(specPath.Child("selector"), ""))
	} else {
		errs = append(errs, metav1validation.ValidateLabelSelector(s.Selector,
			metav1validation.LabelSelectorValidationOptions{}, specPath.Child("selector"))...)
	}
	if sel, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil &&
		!sel.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(specPath.Child("template", "metadata", "labels"), s.Template.Labels,
			"`selector` does not match template `labels`"))
	}
	return errs
}

// validateJobFields checks what a Job and a CronJob's template have in common.
func validateJobFields(s *batchv1.JobSpec, path *field.Path) (errs field.ErrorList) {
	for _, n := range [...]struct {
		name  string
		value *int32
	}{{"parallelism", s.Parallelism}, {"completions", s.Completions}} {
		if n.value != nil {
			errs = append(errs, nonNegative(int64(*n.value), path, n.name)...)
		}
	}
	if s.ActiveDeadlineSeconds != nil {
		errs = append(errs, nonNegative(*s.ActiveDeadlineSeconds, path, "activeDeadlineSeconds")...)
	}
	for _, n := range [...]struct {
		name  string
		value *int32
	}{{"backoffLimit", s.BackoffLimit}, {"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished},
		{"backoffLimitPerIndex", s.BackoffLimitPerIndex}, {"maxFailedIndexes", s.MaxFailedIndexes}} {
		if n.value != nil {
			errs = append(errs, nonNegative(int64(*n.value), path, n.name)...)
		}
	}
	if s.CompletionMode != nil {
		switch *s.CompletionMode {
		case batchv1.NonIndexedCompletion:
		case batchv1.IndexedCompletion:
			if s.Completions == nil {
				errs = append(errs, field.Required(path.Child("completions"), "when completion mode is Indexed"))
			}
		default:
			errs = append(errs, field.NotSupported(path.Child("completionMode"), s.CompletionMode,
				[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}))
		}
	}
	if p := s.PodReplacementPolicy; p != nil && *p != batchv1.Failed && *p != batchv1.TerminatingOrFailed {
		errs = append(errs, field.NotSupported(path.Child("podReplacementPolicy"), *p,
			[]batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}))
	}
	errs = append(errs, validateTemplate(&s.Template, path.Child("template"))...)
	at := path.Child("template", "spec", "restartPolicy")
	switch p := s.Template.Spec.RestartPolicy; p {
	case corev1.RestartPolicyAlways, "":
		errs = append(errs, field.Required(at, `valid values: "OnFailure", "Never"`))
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	default:
		errs = append(errs, field.NotSupported(at, p,
			[]corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	return errs
}

// JobUpdate checks a change: most of the spec is for ever.
func JobUpdate(j, old *batchv1.Job) field.ErrorList {
	_, hadName := old.Spec.Template.Labels[batchv1.JobNameLabel]
	_, hadUID := old.Spec.Template.Labels[batchv1.ControllerUidLabel]
	errs := Job(j, hadName && hadUID)
	errs = append(errs, validateJobSpec(&j.Spec)...)
	same := func(now, was any, name string) {
		errs = append(errs, apivalidation.ValidateImmutableField(now, was, specPath.Child(name))...)
	}
	if *j.Spec.CompletionMode != batchv1.IndexedCompletion {
		same(j.Spec.Completions, old.Spec.Completions, "completions")
	} else if c := j.Spec.Completions; c != nil && !equality.Semantic.DeepEqual(c, old.Spec.Completions) &&
		*c != *j.Spec.Parallelism {
		errs = append(errs, field.Invalid(specPath.Child("completions"), c,
			"can only be modified in tandem with spec.parallelism"))
	}
	same(j.Spec.Selector, old.Spec.Selector, "selector")
	errs = append(errs, validateJobTemplateUpdate(j, old)...)
	same(j.Spec.CompletionMode, old.Spec.CompletionMode, "completionMode")
	same(j.Spec.PodFailurePolicy, old.Spec.PodFailurePolicy, "podFailurePolicy")
	same(j.Spec.BackoffLimitPerIndex, old.Spec.BackoffLimitPerIndex, "backoffLimitPerIndex")
	same(j.Spec.ManagedBy, old.Spec.ManagedBy, "managedBy")
	same(j.Spec.SuccessPolicy, old.Spec.SuccessPolicy, "successPolicy")
	return errs
}

// validateJobTemplateUpdate: the template of a Job that is suspended and has
// not started may change where its Pods go; nothing else may change.
func validateJobTemplateUpdate(j, old *batchv1.Job) field.ErrorList {
	t, was := &j.Spec.Template, &old.Spec.Template
	suspended := old.Spec.Suspend != nil && *old.Spec.Suspend
	if suspended && (old.Status.StartTime == nil || jobIs(old, batchv1.JobSuspended)) && old.Status.Active == 0 {
		was = was.DeepCopy()
		was.Spec.NodeSelector, was.Spec.Tolerations, was.Spec.SchedulingGates = t.Spec.NodeSelector, t.Spec.Tolerations,
			t.Spec.SchedulingGates
		was.Annotations, was.Labels = t.Annotations, t.Labels
		if t.Spec.Affinity != nil && was.Spec.Affinity != nil {
			was.Spec.Affinity.NodeAffinity = t.Spec.Affinity.NodeAffinity
		} else if t.Spec.Affinity != nil {
			was.Spec.Affinity = &corev1.Affinity{NodeAffinity: t.Spec.Affinity.NodeAffinity}
		}
		if len(t.Spec.Containers) == len(was.Spec.Containers) {
			for i := range t.Spec.Containers {
				was.Spec.Containers[i].Resources = t.Spec.Containers[i].Resources
			}
		}
	}
	if equality.Semantic.DeepEqual(t, was) {
		return nil
	}
	return field.ErrorList{field.Invalid(specPath.Child("template"), shownTemplate(t),
		apivalidation.FieldImmutableErrorMsg)}
}

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
	elastic := j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion &&
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

// The labels by which Pods belong to a Job, and their older names.
const (
	LegacyControllerUID = "controller-uid"
	LegacyJobName       = "job-name"
)
