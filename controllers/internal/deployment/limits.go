package deployment

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// limits are how many pods a Deployment may have above its size, and how many fewer
// available ones, while it is rolled out. A surge is rounded up and an unavailability
// down; if both come to none, one pod may be unavailable, or nothing would ever move.
// Any other strategy than RollingUpdate allows none of either.
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

// scaled is a number, or a percentage of a number of pods. The server accepts nothing
// that is neither.
func scaled(v *intstr.IntOrString, of int32, up bool) int32 {
	n, err := intstr.GetScaledValueFromIntOrPercent(intstr.ValueOrDefault(v, intstr.FromInt32(0)), int(of), up)
	if err != nil {
		return 0
	}
	return int32(n)
}

// replicas is how many pods a Deployment asks for.
func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// most is how many pods it may have.
func most(d *appsv1.Deployment) int32 {
	surge, _ := limits(d)
	return replicas(d) + surge
}

// least is how many available pods it may not have less than.
func least(d *appsv1.Deployment) int32 {
	_, unavailable := limits(d)
	return replicas(d) - unavailable
}

// hasDeadline reports whether lack of progress is told after a while; the highest
// number there is means never.
func hasDeadline(d *appsv1.Deployment) bool {
	s := d.Spec.ProgressDeadlineSeconds
	return s != nil && *s != math.MaxInt32
}

// keepsHistory is how many old ReplicaSets are kept, and whether not all are.
func keepsHistory(d *appsv1.Deployment) (int, bool) {
	n := d.Spec.RevisionHistoryLimit
	if n == nil || *n == math.MaxInt32 {
		return 0, false
	}
	return int(*n), true
}
