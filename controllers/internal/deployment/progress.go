package deployment

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeProgress writes the status of a rollout: its progress, and the failures of its ReplicaSets.
func (u *rollout) writeProgress(ctx context.Context) error {
	s := u.count()
	if !hasDeadline(u.d) {
		drop(&s, appsv1.DeploymentProgressing)
	} else if !u.done(&s) {
		u.progress(&s)
	}
	if c := u.failure(); c != nil {
		set(&s, *c)
	} else {
		drop(&s, appsv1.DeploymentReplicaFailure)
	}
	before := u.d.ResourceVersion
	if err := u.writeStatus(ctx, s); err != nil || u.d.ResourceVersion != before {
		return err
	}
	u.lookAgain()
	return nil
}

// done reports whether the status says that the rollout is complete, and that no old pods exist.
func (u *rollout) done(s *appsv1.DeploymentStatus) bool {
	c := condition(&u.d.Status, appsv1.DeploymentProgressing)
	return c != nil && c.Reason == setAvailable && s.Replicas == s.UpdatedReplicas
}

func (u *rollout) progress(s *appsv1.DeploymentStatus) {
	subject := fmt.Sprintf("Deployment %q", u.d.Name)
	if rs := u.current(); rs != nil {
		subject = fmt.Sprintf("ReplicaSet %q", rs.Name)
	}
	const kind = appsv1.DeploymentProgressing
	switch {
	case complete(u.d, s):
		u.say(s, kind, corev1.ConditionTrue, setAvailable, subject+" has successfully progressed.")
	case advanced(&u.d.Status, s):
		// Drop the old condition, so that the new one gets a new update time: the deadline counts from there.
		was := condition(s, kind)
		drop(s, kind)
		u.say(s, kind, corev1.ConditionTrue, setUpdated, subject+" is progressing.")
		if is := condition(s, kind); was != nil && was.Status == is.Status {
			is.LastTransitionTime = was.LastTransitionTime
		}
	case u.late(s):
		u.say(s, kind, corev1.ConditionFalse, timedOut, subject+" has timed out progressing.")
	}
}

// advanced reports whether there are more updated, ready or available pods, or fewer old ones.
func advanced(was, is *appsv1.DeploymentStatus) bool {
	return is.UpdatedReplicas > was.UpdatedReplicas ||
		is.Replicas-is.UpdatedReplicas < was.Replicas-was.UpdatedReplicas ||
		is.ReadyReplicas > was.ReadyReplicas || is.AvailableReplicas > was.AvailableReplicas
}

// late reports whether the Deployment has made no progress within its deadline. After a complete rollout it returns
// false.
func (u *rollout) late(s *appsv1.DeploymentStatus) bool {
	c := condition(s, appsv1.DeploymentProgressing)
	if c == nil || c.Reason == setAvailable {
		return false
	}
	return u.deadline(c).Before(u.env.Now())
}

func (u *rollout) deadline(c *appsv1.DeploymentCondition) time.Time {
	return c.LastUpdateTime.Add(time.Duration(*u.d.Spec.ProgressDeadlineSeconds) * time.Second)
}

// lookAgain requeues the Deployment for its progress deadline, because no event may come before. It adds a second,
// because stored times have no fractions of a second.
func (u *rollout) lookAgain() {
	c := condition(&u.d.Status, appsv1.DeploymentProgressing)
	if c == nil || c.Reason == timedOut || complete(u.d, &u.d.Status) {
		return
	}
	u.env.Queue.AddAfter(u.key, max(u.deadline(c).Sub(u.env.Now()), 0)+time.Second)
}

// failure returns the condition of a ReplicaSet that cannot create or delete pods, or nil. It looks first at the
// current ReplicaSet, then at the others, the oldest first.
func (u *rollout) failure() *appsv1.DeploymentCondition {
	sets := u.old()
	if rs := u.current(); rs != nil {
		sets = append([]*appsv1.ReplicaSet{rs}, sets...)
	}
	for _, rs := range sets {
		for _, c := range rs.Status.Conditions {
			if c.Type == appsv1.ReplicaSetReplicaFailure {
				return &appsv1.DeploymentCondition{
					Type: appsv1.DeploymentReplicaFailure, Status: c.Status, Reason: c.Reason, Message: c.Message,
					LastUpdateTime: c.LastTransitionTime, LastTransitionTime: c.LastTransitionTime,
				}
			}
		}
	}
	return nil
}

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

func condition(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			return &s.Conditions[i]
		}
	}
	return nil
}

// say sets a condition with the current time. It does nothing if s has the condition with this status and reason.
func (r *reconciler) say(s *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, is corev1.ConditionStatus,
	reason, message string) {
	now := metav1.NewTime(r.env.Now().Truncate(time.Second)) // stored times have no fractions of a second
	set(s, appsv1.DeploymentCondition{Type: kind, Status: is, LastUpdateTime: now, LastTransitionTime: now,
		Reason: reason, Message: message})
}

// set puts condition c into s, in place of the old condition of the same type. If the old one has the same status and
// reason, set does nothing. If only the reason differs, the transition time stays.
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

// drop removes the condition of a type. It copies the list, because the cached Deployment shares it.
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
// progress. If the condition already says that the deadline was exceeded, it stays.
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
