package validation

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Deployment checks the spec of a Deployment.
func Deployment(d *appsv1.Deployment) field.ErrorList {
	s, path := &d.Spec, specPath.Child("template")
	errs := nonNegative(int64(*s.Replicas), specPath, "replicas")
	more, ok := validateSelector(s.Selector, &s.Template, "empty selector is invalid for deployment",
		"invalid label selector")
	errs = append(errs, more...)
	if ok {
		errs = append(errs, validateTemplate(&s.Template, path)...)
		errs = append(errs, alwaysRestarts(&s.Template, path, "ReplicaSet")...)
	}
	errs = append(errs, validateStrategy(&s.Strategy)...)
	errs = append(errs, nonNegative(int64(s.MinReadySeconds), specPath, "minReadySeconds")...)
	errs = append(errs, nonNegative(int64(*s.RevisionHistoryLimit), specPath, "revisionHistoryLimit")...)
	if n, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64); err == nil {
		errs = append(errs, nonNegative(n, specPath.Child("rollback"), "version")...)
	}
	errs = append(errs, nonNegative(int64(*s.ProgressDeadlineSeconds), specPath, "progressDeadlineSeconds")...)
	if *s.ProgressDeadlineSeconds <= s.MinReadySeconds {
		errs = append(errs, field.Invalid(specPath.Child("progressDeadlineSeconds"), s.ProgressDeadlineSeconds,
			"must be greater than minReadySeconds"))
	}
	return errs
}

// shownPartition is a form in which messages show a value: that of the real server's own type.
type shownPartition struct {
	Partition      int32
	MaxUnavailable *intstr.IntOrString
}

func validateStrategy(s *appsv1.DeploymentStrategy) (errs field.ErrorList) {
	path := specPath.Child("strategy")
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
			errs = append(errs, field.Invalid(rolling.Child("maxUnavailable"), *down,
				"may not be 0 when `maxSurge` is 0"))
		}
		errs = append(errs, atMostAll(down, rolling.Child("maxUnavailable"))...)
	default:
		errs = append(errs, field.NotSupported(path, asShown(s), []string{"Recreate", "RollingUpdate"}))
	}
	return errs
}

// DeploymentUpdate checks a change: the selector is for ever.
func DeploymentUpdate(d, old *appsv1.Deployment) field.ErrorList {
	return append(Deployment(d), apivalidation.ValidateImmutableField(d.Spec.Selector, old.Spec.Selector,
		specPath.Child("selector"))...)
}

// DeploymentStatus checks a write to the status: the counts have to fit each other.
func DeploymentStatus(d, old *appsv1.Deployment) field.ErrorList {
	s := &d.Status
	errs := nonNegative(s.ObservedGeneration, statusPath, "observedGeneration")
	for _, c := range [...]count{{"replicas", s.Replicas}, {"updatedReplicas", s.UpdatedReplicas},
		{"readyReplicas", s.ReadyReplicas},
		{"availableReplicas", s.AvailableReplicas}, {"unavailableReplicas", s.UnavailableReplicas}} {
		errs = append(errs, nonNegative(int64(c.n), statusPath, c.name)...)
	}
	if s.TerminatingReplicas != nil {
		errs = append(errs, nonNegative(int64(*s.TerminatingReplicas), statusPath, "terminatingReplicas")...)
	}
	if s.CollisionCount != nil {
		errs = append(errs, nonNegative(int64(*s.CollisionCount), statusPath, "collisionCount")...)
	}
	errs = append(errs, notAbove(s.Replicas, "cannot be greater than status.replicas",
		count{"updatedReplicas", s.UpdatedReplicas}, count{"readyReplicas", s.ReadyReplicas},
		count{"availableReplicas", s.AvailableReplicas})...)
	errs = append(errs, notAbove(s.ReadyReplicas, "cannot be greater than readyReplicas",
		count{"availableReplicas", s.AvailableReplicas})...)
	return append(errs, notLowered(s.CollisionCount, old.Status.CollisionCount)...)
}
