package deployment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of condition Progressing that affect decisions.
const (
	setAvailable  = "NewReplicaSetAvailable"
	timedOut      = "ProgressDeadlineExceeded"
	paused        = "DeploymentPaused"
	resumed       = "DeploymentResumed"
	setCreated    = "NewReplicaSetCreated"
	createFailed  = "ReplicaSetCreateError"
	setUpdated    = "ReplicaSetUpdated"
	setFound      = "FoundNewReplicaSet"
	enoughPods    = "MinimumReplicasAvailable"
	notEnoughPods = "MinimumReplicasUnavailable"
)

// condition returns the condition of a type, or nil.
func condition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// say sets a condition, unless it already has that status and reason.
func (r *reconciler) say(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, is corev1.ConditionStatus,
	reason, message string) {
	now := metav1.NewTime(r.env.Now().Truncate(time.Second)) // the stored precision
	set(s, appsv1.DeploymentCondition{Type: kind, Status: is, LastUpdateTime: now, LastTransitionTime: now,
		Reason: reason, Message: message})
}

// set appends a condition, unless it is there with that status and reason. It keeps the time of the last status change.
func set(s *appsv1.DeploymentStatus, c appsv1.DeploymentCondition) {
	if was := condition(s, c.Type); was != nil && was.Status == c.Status {
		if was.Reason == c.Reason {
			return
		}
		c.LastTransitionTime = was.LastTransitionTime
	}
	drop(s, c.Type)
	s.Conditions = append(s.Conditions, c)
}

// drop removes the condition of a type from a copy of the list, which the cache shares.
func drop(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) {
	var left []appsv1.DeploymentCondition
	for _, c := range s.Conditions {
		if c.Type != kind {
			left = append(left, c)
		}
	}
	s.Conditions = left
}

// notePause records in a condition that the Deployment was paused or resumed, so that a pause does not count as lack of
// progress. A Deployment that already lacks progress keeps that condition.
func (u *rollout) notePause(ctx context.Context) error {
	if !hasDeadline(u.d) {
		return nil
	}
	reason := ""
	if c := condition(&u.d.Status, appsv1.DeploymentProgressing); c != nil {
		reason = c.Reason
	}
	switch {
	case reason == timedOut, u.d.Spec.Paused == (reason == paused):
		return nil
	case u.d.Spec.Paused:
		u.say(&u.d.Status, appsv1.DeploymentProgressing, corev1.ConditionUnknown, paused, "Deployment is paused")
	default:
		u.say(&u.d.Status, appsv1.DeploymentProgressing, corev1.ConditionUnknown, resumed, "Deployment is resumed")
	}
	return u.updateStatus(ctx)
}
