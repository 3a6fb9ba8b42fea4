package deployment

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// limits returns the maximum surge of pods and the maximum number of unavailable pods during a rollout. A surge is
// rounded up, an unavailability down. If both are zero, one pod may be unavailable, or nothing would ever move.
// Strategies other than RollingUpdate allow neither.
func limits(d *appsv1.Deployment) (surge, unavailable int32) {
	if d.Spec.Strategy.Type != appsv1.RollingUpdateDeploymentStrategyType {
		return 0, 0
	}
	wanted := replicas(d)
	if how := d.Spec.Strategy.RollingUpdate; how != nil {
		surge, unavailable = scaled(how.MaxSurge, wanted, true), scaled(how.MaxUnavailable, wanted, false)
	}
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return surge, min(unavailable, wanted)
}

// scaled returns a number, or a percentage of a number of pods. The server accepts only these.
func scaled(v *intstr.IntOrString, of int32, up bool) int32 {
	n, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(v, intstr.FromInt32(0)), int(of), up)
	if err != nil {
		return 0
	}
	return int32(n)
}

// replicas returns the pods that a Deployment wants.
func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// most returns the maximum number of pods.
func most(d *appsv1.Deployment) int32 {
	surge, _ := limits(d)
	return replicas(d) + surge
}

// least returns the minimum number of available pods.
func least(d *appsv1.Deployment) int32 {
	_, unavailable := limits(d)
	return replicas(d) - unavailable
}

// hasDeadline reports whether lack of progress is reported; the maximum value means never.
func hasDeadline(d *appsv1.Deployment) bool {
	s := d.Spec.ProgressDeadlineSeconds
	return s != nil && *s != math.MaxInt32
}

// keepsHistory returns how many old ReplicaSets are kept, and whether there is a limit.
func keepsHistory(d *appsv1.Deployment) (int, bool) {
	n := d.Spec.RevisionHistoryLimit
	if n == nil || *n == math.MaxInt32 {
		return 0, false
	}
	return int(*n), true
}
