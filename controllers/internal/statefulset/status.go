package statefulset

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// statusOf is what there is to say of a set with these pods.
func (s *syncing) statusOf(pods []*corev1.Pod) *appsv1.StatefulSetStatus {
	collisions := s.collisions
	status := &appsv1.StatefulSetStatus{
		ObservedGeneration: s.set.Generation,
		CurrentRevision:    s.current.revision,
		UpdateRevision:     s.next.revision,
		CollisionCount:     &collisions,
	}
	s.count(status, pods)
	return status
}

// count counts pods. One that is being deleted still counts as there and ready, but
// is of no revision any more.
func (s *syncing) count(status *appsv1.StatefulSetStatus, lists ...[]*corev1.Pod) {
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas = 0, 0, 0
	status.CurrentReplicas, status.UpdatedReplicas = 0, 0
	for _, list := range lists {
		for _, p := range list {
			if !exists(p) {
				continue
			}
			status.Replicas++
			if up(p) {
				status.ReadyReplicas++
				if pod.Available(p, s.set.Spec.MinReadySeconds, s.now) {
					status.AvailableReplicas++
				}
			}
			if p.DeletionTimestamp != nil {
				continue
			}
			if revisionOf(p) == s.current.revision {
				status.CurrentReplicas++
			}
			if revisionOf(p) == s.next.revision {
				status.UpdatedReplicas++
			}
		}
	}
	if s.rolled && status.CurrentReplicas > 0 { // what was deleted may have been of no revision
		status.CurrentReplicas--
	}
}

// writeStatus writes the status if it says something else than it did (WRITE-9). An
// update that has reached every pod is over with it: the revision that the set goes
// to is then the one that it is at. After a conflict it tries again on the set as the
// cache has it by then, unless that is another set of the name (ADOPT-8, EXACT-4).
func (s *syncing) writeStatus(ctx context.Context, status *appsv1.StatefulSetStatus) error {
	if n := int32(wanted(s.set)); s.set.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType &&
		status.UpdatedReplicas == n && status.ReadyReplicas == n && status.Replicas == n {
		status.CurrentReplicas, status.CurrentRevision = status.UpdatedReplicas, status.UpdateRevision
	}
	if saysTheSame(&s.set.Status, status) {
		return nil
	}
	set := s.set
	var err error
	for range statusAttempts {
		changed := *set
		changed.Status = *status
		obj, updateErr := s.env.Client.UpdateStatus(ctx, &changed)
		if err = updateErr; err == nil {
			s.written.Wrote(s.key, s.set.UID, Kind, obj.(*appsv1.StatefulSet))
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		if obj, exists, _ := s.sets.GetByKey(s.key); exists {
			if set = obj.(*appsv1.StatefulSet); set.UID != s.set.UID && !s.options.Without.SameSet {
				return err
			}
		}
	}
	return err
}

// statusAttempts is how often a status that is refused for a conflict is tried in a
// sync.
const statusAttempts = 5

// saysTheSame compares what matters of two statuses. That the generation observed is
// a later one matters; the number of collisions is written with something else.
func saysTheSame(old, status *appsv1.StatefulSetStatus) bool {
	return status.ObservedGeneration <= old.ObservedGeneration &&
		status.Replicas == old.Replicas && status.ReadyReplicas == old.ReadyReplicas &&
		status.AvailableReplicas == old.AvailableReplicas && status.CurrentReplicas == old.CurrentReplicas &&
		status.UpdatedReplicas == old.UpdatedReplicas && status.CurrentRevision == old.CurrentRevision &&
		status.UpdateRevision == old.UpdateRevision
}
