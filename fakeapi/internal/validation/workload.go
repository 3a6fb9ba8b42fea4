package validation

import (
	"encoding/json"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

func Deployment(d *appsv1.Deployment) field.ErrorList {
	s, path := &d.Spec, SpecPath.Child("template")
	errs := nonNegative(int64(*s.Replicas), SpecPath, "replicas")
	more, ok := validateSelector(s.Selector, &s.Template, "empty selector is invalid for deployment", "invalid label selector")
	errs = append(errs, more...)
	if ok {
		errs = append(errs, validateTemplate(&s.Template, path)...)
		errs = append(errs, alwaysRestarts(&s.Template, path, "ReplicaSet")...)
	}
	errs = append(errs, validateStrategy(&s.Strategy)...)
	errs = append(errs, nonNegative(int64(s.MinReadySeconds), SpecPath, "minReadySeconds")...)
	errs = append(errs, nonNegative(int64(*s.RevisionHistoryLimit), SpecPath, "revisionHistoryLimit")...)
	errs = append(errs, nonNegative(int64(*s.ProgressDeadlineSeconds), SpecPath, "progressDeadlineSeconds")...)
	if *s.ProgressDeadlineSeconds <= s.MinReadySeconds {
		errs = append(errs, field.Invalid(SpecPath.Child("progressDeadlineSeconds"), s.ProgressDeadlineSeconds, "must be greater than minReadySeconds"))
	}
	return errs
}

// The forms in which messages show values: those of the real server's own types.
type (
	shownStrategy struct {
		Type          string
		RollingUpdate any
	}
	shownPartition struct {
		Partition      int32
		MaxUnavailable *intstr.IntOrString
	}
)

func validateStrategy(s *appsv1.DeploymentStrategy) (errs field.ErrorList) {
	path := SpecPath.Child("strategy")
	rolling := path.Child("rollingUpdate")
	switch s.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if s.RollingUpdate != nil {
			errs = append(errs, field.Forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType:
		down, up := s.RollingUpdate.MaxUnavailable, s.RollingUpdate.MaxSurge
		errs = append(errs, countOrPercent(down, rolling.Child("maxUnavailable"))...)
		errs = append(errs, countOrPercent(up, rolling.Child("maxSurge"))...)
		if amount(down) == 0 && amount(up) == 0 {
			errs = append(errs, field.Invalid(rolling.Child("maxUnavailable"), *down, "may not be 0 when `maxSurge` is 0"))
		}
		errs = append(errs, atMostAll(down, rolling.Child("maxUnavailable"))...)
	default:
		shown := shownStrategy{Type: string(s.Type)}
		if s.RollingUpdate != nil {
			shown.RollingUpdate = s.RollingUpdate
		}
		errs = append(errs, field.NotSupported(path, shown, []string{"Recreate", "RollingUpdate"}))
	}
	return errs
}

func countOrPercent(v *intstr.IntOrString, path *field.Path) (errs field.ErrorList) {
	if v.Type == intstr.Int {
		return apivalidation.ValidateNonnegativeField(int64(v.IntVal), path)
	}
	for _, msg := range utilvalidation.IsValidPercent(v.StrVal) {
		errs = append(errs, field.Invalid(path, *v, msg))
	}
	return errs
}

func percent(v *intstr.IntOrString) (int, bool) {
	if v.Type != intstr.String || len(utilvalidation.IsValidPercent(v.StrVal)) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(v.StrVal[:len(v.StrVal)-1])
	return n, err == nil
}

func amount(v *intstr.IntOrString) int {
	if n, ok := percent(v); ok {
		return n
	}
	return v.IntValue()
}

func atMostAll(v *intstr.IntOrString, path *field.Path) field.ErrorList {
	if n, ok := percent(v); ok && n > 100 {
		return field.ErrorList{field.Invalid(path, *v, "must not be greater than 100%")}
	}
	return nil
}

func DeploymentUpdate(d, old *appsv1.Deployment) field.ErrorList {
	return append(Deployment(d), apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, SpecPath.Child("selector"))...)
}

func DeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	s := &d.Status
	errs := nonNegative(s.ObservedGeneration, StatusPath, "observedGeneration")
	for _, c := range [...]count{{"replicas", s.Replicas}, {"updatedReplicas", s.UpdatedReplicas}, {"readyReplicas", s.ReadyReplicas},
		{"availableReplicas", s.AvailableReplicas}, {"unavailableReplicas", s.UnavailableReplicas}} {
		errs = append(errs, nonNegative(int64(c.n), StatusPath, c.name)...)
	}
	if s.TerminatingReplicas != nil {
		errs = append(errs, nonNegative(int64(*s.TerminatingReplicas), StatusPath, "terminatingReplicas")...)
	}
	if s.CollisionCount != nil {
		errs = append(errs, nonNegative(int64(*s.CollisionCount), StatusPath, "collisionCount")...)
	}
	errs = append(errs, notAbove(s.Replicas, "cannot be greater than status.replicas",
		count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas}, count{"availableReplicas", s.AvailableReplicas})...)
	errs = append(errs, notAbove(s.ReadyReplicas, "cannot be greater than readyReplicas", count{"availableReplicas", s.AvailableReplicas})...)
	return append(errs, notLowered(s.CollisionCount, old.Status.CollisionCount)...)
}

// count is a number in a status.
type count struct {
	name string
	n    int32
}

func notAbove(most int32, msg string, counts ...count) (errs field.ErrorList) {
	for _, c := range counts {
		if c.n > most {
			errs = append(errs, field.Invalid(StatusPath.Child(c.name), c.n, msg))
		}
	}
	return errs
}

func notLowered(now, was *int32) field.ErrorList {
	if was == nil || now != nil && *now >= *was {
		return nil
	}
	value := int32(0)
	if now != nil {
		value = *now
	}
	return field.ErrorList{field.Invalid(StatusPath.Child("collisionCount"), value, "cannot be decremented")}
}

func DaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	s, path := &d.Spec, SpecPath.Child("template")
	errs := metav1validation.ValidateLabelSelector(s.Selector, metav1validation.LabelSelectorValidationOptions{}, SpecPath.Child("selector"))
	sel, err := metav1.LabelSelectorAsSelector(s.Selector)
	if err == nil && !sel.Matches(labels.Set(s.Template.Labels)) {
		errs = append(errs, field.Invalid(path.Child("metadata", "labels"), s.Template.Labels, "`selector` does not match template `labels`"))
	}
	if s.Selector != nil && len(s.Selector.MatchLabels)+len(s.Selector.MatchExpressions) == 0 {
		errs = append(errs, field.Invalid(SpecPath.Child("selector"), s.Selector, "empty selector is invalid for daemonset"))
	}
	errs = append(errs, validateTemplate(&s.Template, path)...)
	errs = append(errs, alwaysRestarts(&s.Template, path, "DaemonSet")...)
	errs = append(errs, nonNegative(int64(s.MinReadySeconds), SpecPath, "minReadySeconds")...)
	errs = append(errs, nonNegative(TemplateGeneration(d), SpecPath, "templateGeneration")...)
	errs = append(errs, validateDaemonUpdate(&s.UpdateStrategy)...)
	return append(errs, nonNegative(int64(*s.RevisionHistoryLimit), SpecPath, "revisionHistoryLimit")...)
}

func validateDaemonUpdate(u *appsv1.DaemonSetUpdateStrategy) (errs field.ErrorList) {
	path := SpecPath.Child("updateStrategy")
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
			errs = append(errs, field.Invalid(rolling.Child("maxSurge"), *up, "may not be set when maxUnavailable is non-zero"))
		case amount(down) == 0 && amount(up) == 0:
			errs = append(errs, field.Required(rolling.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
		}
	default:
		errs = append(errs, field.NotSupported(path, shownStrategy{Type: string(u.Type)}, []string{"RollingUpdate", "OnDelete"}))
	}
	return errs
}

func DaemonSetUpdate(d, old *appsv1.DaemonSet) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector, SpecPath.Child("selector"))
	return append(errs, DaemonSet(d)...)
}

func DaemonSetStatus(d, old *appsv1.DaemonSet) (errs field.ErrorList) {
	s := &d.Status
	for _, c := range [...]count{{"currentNumberScheduled", s.CurrentNumberScheduled}, {"numberMisscheduled", s.NumberMisscheduled},
		{"desiredNumberScheduled", s.DesiredNumberScheduled}, {"numberReady", s.NumberReady}} {
		errs = append(errs, nonNegative(int64(c.n), StatusPath, c.name)...)
	}
	errs = append(errs, nonNegative(s.ObservedGeneration, StatusPath, "observedGeneration")...)
	for _, c := range [...]count{{"updatedNumberScheduled", s.UpdatedNumberScheduled}, {"numberAvailable", s.NumberAvailable}, {"numberUnavailable", s.NumberUnavailable}} {
		errs = append(errs, nonNegative(int64(c.n), StatusPath, c.name)...)
	}
	if s.CollisionCount != nil {
		errs = append(errs, nonNegative(int64(*s.CollisionCount), StatusPath, "collisionCount")...)
	}
	return append(errs, notLowered(s.CollisionCount, old.Status.CollisionCount)...)
}

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

func ControllerRevisionUpdate(r, old *appsv1.ControllerRevision) field.ErrorList {
	errs := apivalidation.ValidateNonnegativeField(r.Revision, field.NewPath("revision"))
	return append(errs, apivalidation.ValidateImmutableField(r.Data, old.Data, field.NewPath("data"))...)
}

// TemplateGeneration is kept in an annotation; the API has no field for it.
func TemplateGeneration(d *appsv1.DaemonSet) int64 {
	n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Scale checks the scale of an object that a client sends.
func Scale(s *autoscalingv1.Scale, namespaced bool) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&s.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain, metadata.Path)
	return append(errs, nonNegative(int64(s.Spec.Replicas), SpecPath, "replicas")...)
}
