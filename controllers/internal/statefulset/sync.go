package statefulset

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/internal/ref"
)

func (r *reconciler) Sync(ctx context.Context, key string) error {
	if err := r.written.Ready(key); err != nil {
		return err
	}
	obj, exists, _ := r.sets.GetByKey(key)
	if !exists {
		r.Forget(key)
		return nil
	}
	set := obj.(*appsv1.StatefulSet)
	if selector(set) == nil {
		return nil // the selector is invalid, so a retry would not help
	}
	s := &syncing{reconciler: r, key: key, set: set}
	return s.sync(ctx)
}

type syncing struct {
	*reconciler
	key string
	set *appsv1.StatefulSet // the cached set
	now time.Time           // the time for which availability is computed
	versions
	rolled bool // this reconcile deleted a pod to replace it
}

func (s *syncing) sync(ctx context.Context) error {
	if s.options.Era != Current {
		return s.syncOld(ctx)
	}
	h := &history.History{Client: s.env.Client, Owner: s.set, Revisions: s.revisions,
		Without: &s.options.Without.History}
	revisions := h.List(func(labels map[string]string) bool { return selects(s.set, labels) })
	// Claim the history first, because the pods refer to it (RULES F62).
	revisions, err := history.Adopt(ctx, s.manager(history.Kind), revisions)
	if err != nil {
		return err
	}
	pods, err := s.claim(ctx)
	if err != nil {
		return err
	}
	s.now = s.env.Now()
	// Delete no revisions if the current and update revisions are unknown. Upstream deletes some: with a history limit
	// of 0, even the update revision.
	if err := s.findVersions(ctx, h, revisions); err != nil {
		return err
	}
	status, err := s.advance(ctx, pods)
	// Delete old revisions even if a pod failed.
	err = utilerrors.NewAggregate([]error{err, s.truncate(ctx, h, revisions, pods)})
	if err == nil {
		s.lookAgain(pods, status)
	}
	return err
}

func (s *syncing) manager(dependent schema.GroupVersionKind) *ref.Manager {
	return &ref.Manager{Client: s.env.Client, Owner: s.set, Kind: Kind, Dependent: dependent,
		Without: &s.options.Without.Ref}
}

// claim adopts and releases pods, and returns the set's pods. Terminating and ended pods are included, because they
// keep their names (RULES F61).
func (s *syncing) claim(ctx context.Context) ([]*corev1.Pod, error) {
	candidates := append(pod.Of(s.pods, s.set.UID), pod.Orphans(s.pods, s.set.Namespace)...)
	return ref.Claim(ctx, s.manager(pod.Kind), candidates, func(p *corev1.Pod) bool {
		return selects(s.set, p.Labels) && member(s.set, p.Name, &s.options.Without)
	})
}

// advance takes the next step and writes the status. For a terminating set it only writes the status (ADOPT-3).
func (s *syncing) advance(ctx context.Context, pods []*corev1.Pod) (*appsv1.StatefulSetStatus, error) {
	status := s.statusOf(pods)
	var err error
	if !s.going() {
		err = s.update(ctx, s.arrange(pods), status)
	}
	if statusErr := s.writeStatus(ctx, status); err == nil {
		err = statusErr
	}
	return status, err
}

func (s *syncing) going() bool {
	return s.set.DeletionTimestamp != nil && !s.options.Without.Terminating
}

// lookAgain requeues the set for the time when its next pod becomes available, because no event may come then.
func (s *syncing) lookAgain(pods []*corev1.Pod, status *appsv1.StatefulSetStatus) {
	if status.ReadyReplicas == status.AvailableReplicas {
		return
	}
	seconds := s.set.Spec.MinReadySeconds
	after := pod.NextAvailable(pods, seconds, s.now)
	if after == 0 {
		after = time.Duration(seconds) * time.Second
	}
	s.env.Queue.AddAfter(s.key, after)
}

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

// count sets the numbers of pods in status. A terminating pod still counts, except in the numbers of a revision.
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
	if s.rolled && status.CurrentReplicas > 0 { // it may be 0 if the deleted pod has another revision
		status.CurrentReplicas--
	}
}

// writeStatus writes a changed status (WRITE-9). After a complete update, the update revision becomes the current one.
// After a conflict it retries with the cached set, unless the set was recreated (ADOPT-8, EXACT-4).
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

// statusAttempts is the maximum number of tries to write the status after conflicts.
const statusAttempts = 5

// saysTheSame compares two statuses. A later observed generation is a difference. The collision count does not matter.
func saysTheSame(old, status *appsv1.StatefulSetStatus) bool {
	return status.ObservedGeneration <= old.ObservedGeneration &&
		status.Replicas == old.Replicas && status.ReadyReplicas == old.ReadyReplicas &&
		status.AvailableReplicas == old.AvailableReplicas && status.CurrentReplicas == old.CurrentReplicas &&
		status.UpdatedReplicas == old.UpdatedReplicas && status.CurrentRevision == old.CurrentRevision &&
		status.UpdateRevision == old.UpdateRevision
}

// syncOld is a reconcile in the eras before revisions. It creates and deletes pods one after another, and never
// replaces a pod because of its template. In the selector era it also creates and deletes pods of a terminating set,
// because the proposal's checklist ticks nothing for StatefulSet.
func (s *syncing) syncOld(ctx context.Context) error {
	pods, err := s.own(ctx)
	if err != nil {
		return err
	}
	s.now = s.env.Now()
	s.current.set, s.next.set = s.set, s.set
	if s.set.DeletionTimestamp == nil || s.options.Era == Selector {
		err = s.updateOld(ctx, s.arrange(pods))
	}
	if statusErr := s.writeOldStatus(ctx, pods); err == nil {
		err = statusErr
	}
	return err
}

// own returns the pods that the set controls. Before ControllerRef, it returns those whose names and labels match.
func (s *syncing) own(ctx context.Context) ([]*corev1.Pod, error) {
	if s.options.Era != Selector {
		return s.claim(ctx)
	}
	var own []*corev1.Pod
	for _, p := range pod.In(s.pods, s.set.Namespace) {
		if selects(s.set, p.Labels) && member(s.set, p.Name, &s.options.Without) {
			own = append(own, p)
		}
	}
	return own, nil
}

func (s *syncing) updateOld(ctx context.Context, a *arrangement) error {
	done, err := s.each(a.replicas, func(p *corev1.Pod) (bool, error) { return s.tend(ctx, p, a) })
	if !done {
		_, err = s.each(a.condemned, func(p *corev1.Pod) (bool, error) { return s.remove(ctx, p, a) })
	}
	return err
}

// writeOldStatus writes the fields of the status that are older than revisions.
func (s *syncing) writeOldStatus(ctx context.Context, pods []*corev1.Pod) error {
	var is appsv1.StatefulSetStatus
	s.count(&is, pods)
	changed := *s.set
	changed.Status.Replicas = is.Replicas
	changed.Status.ObservedGeneration = max(s.set.Status.ObservedGeneration, s.set.Generation)
	if changed.Status.Replicas == s.set.Status.Replicas &&
		changed.Status.ObservedGeneration == s.set.Status.ObservedGeneration {
		return nil
	}
	_, err := s.env.Client.UpdateStatus(ctx, &changed)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
