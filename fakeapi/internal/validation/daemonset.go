package validation

import (
	"encoding/json"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DaemonSet checks the spec of a DaemonSet.
func DaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	s, path := &d.Spec, specPath.Child("template")
	errs := metav1validation.ValidateLabelSelector(s.Selector, metav1validation.LabelSelectorValidationOptions{},
		specPath.Child("selector"))
	sel, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err == nil && !sel.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels,
			"`selector` does not match template `labels`"))
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(specPath.Child("selector"), s.Selector,
			"empty selector is invalid for daemonset"))
	}
	errs = append(errs, validateTemplate(&s.Template, path)...)
	errs = append(errs, alwaysRestarts(&s.Template, path, "DaemonSet")...)
	errs = append(errs, nonNegative(int64(s.MinReadySeconds), specPath, "minReadySeconds")...)
	errs = append(errs, nonNegative(TemplateGeneration(d), specPath, "templateGeneration")...)
	errs = append(errs, validateDaemonUpdate(&s.UpdateStrategy)...)
	return append(errs, nonNegative(int64(*s.RevisionHistoryLimit), specPath, "revisionHistoryLimit")...)
}

func validateDaemonUpdate(u *appsv1.DaemonSetUpdateStrategy) (errs field.ErrorList) {
	path := specPath.Child("updateStrategy")
	switch u.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
	case appsv1.RollingUpdateDaemonSetStrategyType:
		rolling := path.Child("rollingUpdate")
		down, up := u.RollingUpdate.MaxUnavailable, u.RollingUpdate.MaxSurge
		errs = append(errs, countOrPercent(down, rolling.Child("maxUnavailable"))...)
		errs = append(errs, countOrPercent(up, rolling.Child("maxSurge"))...)
		errs = append(errs, atMostAll(down, rolling.Child("maxUnavailable"))...)
		errs = append(errs, atMostAll(up, rolling.Child("maxSurge"))...)
		switch {
		case amount(down) != 0 && amount(up) != 0:
			errs = append(errs, field.Invalid(rolling.Child("maxSurge"), *up,
				"may not be set when maxUnavailable is non-zero"))
		case amount(down) == 0 && amount(up) == 0:
			errs = append(errs, field.Required(rolling.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(path, asShown(u),
			[]string{"RollingUpdate", "OnDelete"}))
	}
	return errs
}

// DaemonSetUpdate checks a change: the selector is for ever.
func DaemonSetUpdate(d, old *appsv1.DaemonSet) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, specPath.Child("selector"))
	return append(errs, DaemonSet(d)...)
}

// DaemonSetStatus checks a write to the status.
func DaemonSetStatus(d, old *appsv1.DaemonSet) (errs field.ErrorList) {
	s := &d.Status
	for _, c := range [...]count{{"currentNumberScheduled", s.CurrentNumberScheduled},
		{"numberMisscheduled", s.NumberMisscheduled},
		{"desiredNumberScheduled", s.DesiredNumberScheduled}, {"numberReady", s.NumberReady}} {
		errs = append(errs, nonNegative(int64(c.n), statusPath, c.name)...)
	}
	errs = append(errs, nonNegative(s.ObservedGeneration, statusPath, "observedGeneration")...)
	for _, c := range [...]count{{"updatedNumberScheduled", s.UpdatedNumberScheduled},
		{"numberAvailable", s.NumberAvailable}, {"numberUnavailable", s.NumberUnavailable}} {
		errs = append(errs, nonNegative(int64(c.n), statusPath, c.name)...)
	}
	if s.CollisionCount != nil {
		errs = append(errs, nonNegative(int64(*s.CollisionCount), statusPath, "collisionCount")...)
	}
	return append(errs, notLowered(s.CollisionCount, old.Status.CollisionCount)...)
}

// TemplateGeneration is kept in an annotation; the API has no field for it.
func TemplateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// ControllerRevision checks that a new ControllerRevision has data.
func ControllerRevision(r *appsv1.ControllerRevision) field.ErrorList {
	path := field.NewPath("data")
	errs := apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))
	var v any
	switch err := json.Unmarshal(r.Data.Raw, &v); {
	case r.Data.Raw == nil:
		errs = append(errs, field.Required(path, "data is mandatory"))
	case err != nil:
		errs = append(errs, field.Invalid(path, "<value omitted>", fmt.Sprintf("error parsing data: %v", err)))
	case v == nil:
		errs = append(errs, field.Required(path, "data is mandatory"))
	default:
		if _, ok := v.(map[string]any); !ok {
			errs = append(errs, field.Required(path, "data must be a valid JSON object"))
		}
	}
	return errs
}

// ControllerRevisionUpdate lets nothing but the number of a revision change.
func ControllerRevisionUpdate(r, old *appsv1.ControllerRevision) field.ErrorList {
	errs := apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))
	return append(errs, apivalidation.ValidateImmutableField(r.Data, old.Data, field.NewPath("data"))...)
}
