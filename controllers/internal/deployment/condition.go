package deployment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of condition Progressing that decide something.
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

// condition is the condition of a type, nil when there is none.
func condition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// say sets a condition, unless it has that status and reason already, whatever its
// message.
func (r *reconciler) say(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, is corev1.ConditionStatus,
	reason, message string) {
	now := metav1.NewTime(r.env.Now().Truncate(time.Second)) // as it is stored
	set(s, appsv1.DeploymentCondition{Type: kind, Status: is, LastUpdateTime: now, LastTransitionTime: now,
		Reason: reason, Message: message})
}

// set puts a condition behind the others, unless it is there with that status and
// reason. Since when it has had its status it keeps.
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

// drop removes the condition of a type. The list is shared with the cache: it is
// copied.
func drop(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) {
	var left []appsv1.DeploymentCondition
	for _, c := range s.Conditions {
		if c.Type != kind {
			left = append(left, c)
		}
	}
	s.Conditions = left
}

// notePause notes that the Deployment has been paused or resumed, so that the time in
// between is not taken for lack of progress. One that has been told to lack it stays
// told.
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
