package validation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What an indexed Job may have at most, and what less when it has very many completions.
const (
	mostIndexes  = 100_000
	fewerIndexes = 10_000
)

// validateIndexed checks a Job whose Pods are told apart by their index.
func validateIndexed(s *batchv1.JobSpec, path *field.Path) (errs field.ErrorList) {
	parallelism, most := path.Child("parallelism"), path.Child("maxFailedIndexes")
	if s.Completions == nil {
		errs = append(errs, field.Required(path.Child("completions"), "when completion mode is Indexed"))
	}
	if s.Parallelism != nil && *s.Parallelism > mostIndexes {
		errs = append(errs, field.Invalid(parallelism, *s.Parallelism,
			fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", mostIndexes)))
	}
	if s.Completions != nil && s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > *s.Completions {
		errs = append(errs, field.Invalid(most, *s.MaxFailedIndexes, "must be less than or equal to completions"))
	}
	if s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > mostIndexes {
		errs = append(errs, field.Invalid(most, *s.MaxFailedIndexes,
			fmt.Sprintf("must be less than or equal to %d", mostIndexes)))
	}
	if s.Completions == nil || *s.Completions <= mostIndexes || s.BackoffLimitPerIndex == nil {
		return errs
	}
	above := fmt.Sprintf("must be less than or equal to %d when completions are above %d and used with backoff limit "+
		"per index", fewerIndexes, mostIndexes)
	if s.MaxFailedIndexes == nil {
		errs = append(errs, field.Required(most,
			fmt.Sprintf("must be specified when completions is above %d", mostIndexes)))
	}
	if s.Parallelism != nil && *s.Parallelism > fewerIndexes {
		errs = append(errs, field.Invalid(parallelism, *s.Parallelism, above))
	}
	if s.MaxFailedIndexes != nil && *s.MaxFailedIndexes > fewerIndexes {
		errs = append(errs, field.Invalid(most, *s.MaxFailedIndexes, above))
	}
	return errs
}

// validateFailurePolicy checks what becomes of a Job when one of its Pods fails.
func validateFailurePolicy(s *batchv1.JobSpec, path *field.Path) (errs field.ErrorList) {
	path = path.Child("rules")
	if n := len(s.PodFailurePolicy.Rules); n > 20 {
		errs = append(errs, field.TooMany(path, n, 20))
	}
	for i := range s.PodFailurePolicy.Rules {
		r, at := &s.PodFailurePolicy.Rules[i], path.Index(i)
		errs = append(errs, validateFailureAction(r.Action, s.BackoffLimitPerIndex != nil, at.Child("action"))...)
		if r.OnExitCodes != nil {
			errs = append(errs, validateExitCodes(r.OnExitCodes, &s.Template.Spec, at.Child("onExitCodes"))...)
		}
		errs = append(errs, validatePatterns(r.OnPodConditions, at.Child("onPodConditions"))...)
		codes, conditions := r.OnExitCodes != nil, len(r.OnPodConditions) > 0
		if codes && conditions {
			errs = append(errs, field.Invalid(at, field.OmitValueType{},
				"specifying both OnExitCodes and OnPodConditions is not supported"))
		}
		if !codes && !conditions {
			errs = append(errs, field.Invalid(at, field.OmitValueType{},
				"specifying one of OnExitCodes and OnPodConditions is required"))
		}
	}
	return errs
}

// oneOfValues is amongSome for what says, when it is missing, what there is.
func oneOfValues[T ~string](value T, path *field.Path, of ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, fmt.Sprintf("valid values: %q", of))}
	}
	return among(&value, path, of...)
}

func validateFailureAction(a batchv1.PodFailurePolicyAction, indexed bool, path *field.Path) field.ErrorList {
	if a == batchv1.PodFailurePolicyActionFailIndex {
		if indexed {
			return nil
		}
		return field.ErrorList{field.Invalid(path, a, "requires the backoffLimitPerIndex to be set")}
	}
	return oneOfValues(a, path, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex,
		batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionIgnore)
}

func validateExitCodes(r *batchv1.PodFailurePolicyOnExitCodesRequirement, s *corev1.PodSpec,
	path *field.Path) (errs field.ErrorList) {
	errs = oneOfValues(r.Operator, path.Child("operator"), batchv1.PodFailurePolicyOnExitCodesOpIn,
		batchv1.PodFailurePolicyOnExitCodesOpNotIn)
	if name := r.ContainerName; name != nil && !namedIn(s.Containers, *name) && !namedIn(s.InitContainers, *name) {
		errs = append(errs, field.Invalid(path.Child("containerName"), *name,
			"must be one of the container or initContainer names in the pod template"))
	}
	path = path.Child("values")
	if n := len(r.Values); n == 0 {
		errs = append(errs, field.Invalid(path, r.Values, "at least one value is required"))
	} else if n > 255 {
		errs = append(errs, field.TooMany(path, n, 255))
	}
	for i, code := range r.Values {
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && code == 0 {
			errs = append(errs, field.Invalid(path.Index(i), code, "must not be 0 for the In operator"))
		}
		if slices.Contains(r.Values[:i], code) {
			errs = append(errs, field.Duplicate(path.Index(i), code))
		}
	}
	if !slices.IsSorted(r.Values) {
		errs = append(errs, field.Invalid(path, r.Values, "must be ordered"))
	}
	return errs
}

func validatePatterns(list []batchv1.PodFailurePolicyOnPodConditionsPattern, path *field.Path) (errs field.ErrorList) {
	if n := len(list); n > 20 {
		errs = append(errs, field.TooMany(path, n, 20))
	}
	for i, p := range list {
		errs = append(errs, qualified(string(p.Type), path.Index(i).Child("type"))...)
		errs = append(errs, oneOfValues(p.Status, path.Index(i).Child("status"), corev1.ConditionFalse,
			corev1.ConditionTrue, corev1.ConditionUnknown)...)
	}
	return errs
}

// validateSuccessPolicy checks when a Job has succeeded before all of its Pods have.
func validateSuccessPolicy(s *batchv1.JobSpec, path *field.Path) (errs field.ErrorList) {
	path = path.Child("rules")
	if n := len(s.SuccessPolicy.Rules); n == 0 {
		errs = append(errs, field.Required(path,
			"at least one rules must be specified when the successPolicy is specified"))
	} else if n > 20 {
		errs = append(errs, field.TooMany(path, n, 20))
	}
	if s.Completions == nil {
		return errs
	}
	for i := range s.SuccessPolicy.Rules {
		r, at := &s.SuccessPolicy.Rules[i], path.Index(i)
		if r.SucceededCount == nil && r.SucceededIndexes == nil {
			errs = append(errs, field.Required(at,
				"at least one of succeededCount or succeededIndexes must be specified"))
		}
		total := int32(0)
		if text := r.SucceededIndexes; text != nil {
			of := at.Child("succeededIndexes")
			if len(*text) > 64<<10 {
				errs = append(errs, field.TooLong(of, "", 64<<10))
			}
			n, err := countIndexes(*text, *s.Completions)
			if err != nil {
				errs = append(errs, field.Invalid(of, *text, "error parsing succeededIndexes: "+err.Error()))
			}
			total = n
		}
		if n := r.SucceededCount; n != nil {
			of := at.Child("succeededCount")
			errs = append(errs, nonNegative(int64(*n), at, "succeededCount")...)
			if *n > *s.Completions {
				errs = append(errs, field.Invalid(of, *n, fmt.Sprintf("must be less than or equal to %d "+
					"(the number of specified completions)", *s.Completions)))
			}
			if r.SucceededIndexes != nil && *n > total {
				errs = append(errs, field.Invalid(of, *n, fmt.Sprintf("must be less than or equal to %d "+
					"(the number of indexes in the specified succeededIndexes field)", total)))
			}
		}
	}
	return errs
}

// countIndexes counts those of a list like 1,3-5,7.
func countIndexes(text string, completions int32) (total int32, err error) {
	last := int32(-1)
	if text == "" {
		return 0, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, end, err := indexInterval(part, completions)
		if err != nil {
			return 0, err
		}
		if last >= first {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, first)
		}
		total += end - first + 1
		last = end
	}
	return total, nil
}

func indexInterval(text string, completions int32) (first, last int32, err error) {
	parts := strings.Split(text, "-")
	if len(parts) > 2 {
		return 0, 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two "+
			"parts separated by '-'", text)
	}
	var of [2]int32
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0, 0, fmt.Errorf("cannot convert string to integer for index: %q", part)
		}
		if n >= int(completions) {
			return 0, 0, fmt.Errorf("too large index: %q", part)
		}
		of[i] = int32(n)
	}
	if len(parts) == 1 {
		return of[0], of[0], nil
	}
	if of[0] >= of[1] {
		return 0, 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", of[0], of[1])
	}
	return of[0], of[1], nil
}
