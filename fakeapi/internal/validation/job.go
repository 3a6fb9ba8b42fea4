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
	if s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil {
		errs = append(errs, field.Required(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if by := s.ManagedBy; by != nil {
		errs = append(errs, utilvalidation.IsDomainPrefixedPath(path.Child("managedBy"), *by)...)
		if len(*by) > 63 {
			errs = append(errs, field.TooLong(path.Child("managedBy"), "", 63))
		}
	}
	errs = append(errs, validateCompletionMode(s, path)...)
	if s.PodFailurePolicy != nil {
		errs = append(errs, validateFailurePolicy(s, path.Child("podFailurePolicy"))...)
	}
	if s.SuccessPolicy != nil && (s.CompletionMode == nil || *s.CompletionMode != batchv1.IndexedCompletion) {
		errs = append(errs, field.Invalid(path.Child("successPolicy"), asShown(s.SuccessPolicy),
			"requires indexed completion mode"))
	} else if s.SuccessPolicy != nil {
		errs = append(errs, validateSuccessPolicy(s, path.Child("successPolicy"))...)
	}
	replace := []batchv1.PodReplacementPolicy{batchv1.Failed, batchv1.TerminatingOrFailed}
	if s.PodFailurePolicy != nil {
		replace = replace[:1]
	}
	errs = append(errs, among(s.PodReplacementPolicy, path.Child("podReplacementPolicy"), replace...)...)
	errs = append(errs, validateTemplate(&s.Template, path.Child("template"))...)
	at := path.Child("template", "spec", "restartPolicy")
	switch p := s.Template.Spec.RestartPolicy; p {
	case corev1.RestartPolicyAlways, "":
		errs = append(errs, field.Required(at, `valid values: "OnFailure", "Never"`))
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
		if s.PodFailurePolicy != nil && p != corev1.RestartPolicyNever {
			errs = append(errs, field.Invalid(at, p, `only "Never" is supported when podFailurePolicy is specified`))
		}
	default:
		errs = append(errs, field.NotSupported(at, p,
			[]corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	return errs
}

func validateCompletionMode(s *batchv1.JobSpec, path *field.Path) (errs field.ErrorList) {
	switch {
	case s.CompletionMode == nil || *s.CompletionMode == batchv1.NonIndexedCompletion:
		for _, n := range [...]struct {
			name  string
			value *int32
		}{{"backoffLimitPerIndex", s.BackoffLimitPerIndex}, {"maxFailedIndexes", s.MaxFailedIndexes}} {
			if n.value != nil {
				errs = append(errs, field.Invalid(path.Child(n.name), *n.value, "requires indexed completion mode"))
			}
		}
	case *s.CompletionMode == batchv1.IndexedCompletion:
		return validateIndexed(s, path)
	default:
		errs = append(errs, field.NotSupported(path.Child("completionMode"), s.CompletionMode,
			[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}))
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
	errs = append(errs, keptPolicy(j.Spec.PodFailurePolicy, old.Spec.PodFailurePolicy, "podFailurePolicy")...)
	same(j.Spec.BackoffLimitPerIndex, old.Spec.BackoffLimitPerIndex, "backoffLimitPerIndex")
	same(j.Spec.ManagedBy, old.Spec.ManagedBy, "managedBy")
	return append(errs, keptPolicy(j.Spec.SuccessPolicy, old.Spec.SuccessPolicy, "successPolicy")...)
}

func keptPolicy[T any](now, was *T, name string) field.ErrorList {
	if equality.Semantic.DeepEqual(now, was) {
		return nil
	}
	var shown any
	if now != nil {
		shown = asShown(now)
	}
	return field.ErrorList{field.Invalid(specPath.Child(name), shown, apivalidation.FieldImmutableErrorMsg)}
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

// The labels by which Pods belong to a Job, and their older names.
const (
	LegacyControllerUID = "controller-uid"
	LegacyJobName       = "job-name"
)
