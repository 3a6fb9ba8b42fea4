package statefulset

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/pod"
	"github.com/threelaws/threelaws/controllers/ref"
)

// Sync brings one set closer to what it should be.
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
		return nil // it would be no better the next time
	}
	s := &syncing{reconciler: r, key: key, set: set}
	return s.sync(ctx)
}

// syncing is one sync of one set.
type syncing struct {
	*reconciler
	key string
	set *appsv1.StatefulSet // as cached
	now time.Time           // by which pods are available or not
	versions
	rolled bool // a pod was deleted to be made again at the next version
}

func (s *syncing) sync(ctx context.Context) error {
	if s.options.Era != Current {
		return s.syncOld(ctx)
	}
	h := &history.History{Client: s.env.Client, Owner: s.set, Revisions: s.revisions,
		Without: &s.options.Without.History}
	revisions := h.List(func(labels map[string]string) bool { return selects(s.set, labels) })
	// The history first: without it the pods' templates mean nothing (RULES F62).
	revisions, err := history.Adopt(ctx, s.manager(history.Kind), revisions)
	if err != nil {
		return err
	}
	pods, err := s.claim(ctx)
	if err != nil {
		return err
	}
	s.now = s.env.Now()
	// Who does not know which revisions it is at deletes none: upstream does, and where none is
	// to be kept it takes the one that the set is to come to.
	if err := s.findVersions(ctx, h, revisions); err != nil {
		return err
	}
	status, err := s.advance(ctx, pods)
	// Old revisions go whatever became of the pods.
	err = utilerrors.NewAggregate([]error{err, s.truncate(ctx, h, revisions, pods)})
	if err == nil {
		s.lookAgain(pods, status)
	}
	return err
}

// manager claims objects of a kind for the set.
func (s *syncing) manager(dependent schema.GroupVersionKind) *ref.Manager {
	return &ref.Manager{Client: s.env.Client, Owner: s.set, Kind: Kind, Dependent: dependent,
		Without: &s.options.Without.Ref}
}

// claim adopts and releases pods, and returns the set's: all of them, those that
// are being deleted or have ended included, since each holds its name (RULES F61).
func (s *syncing) claim(ctx context.Context) ([]*corev1.Pod, error) {
	candidates := append(pod.Of(s.pods, s.set.UID), pod.Orphans(s.pods, s.set.Namespace)...)
	return ref.Claim(ctx, s.manager(pod.Kind), candidates, func(p *corev1.Pod) bool {
		return selects(s.set, p.Labels) && member(s.set, p.Name, &s.options.Without)
	})
}

// advance does what is next, and writes the status: of a set that is being deleted
// only that (ADOPT-3).
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

// going reports whether the set is being deleted.
func (s *syncing) going() bool {
	return s.set.DeletionTimestamp != nil && !s.options.Without.Terminating
}

// lookAgain syncs the set when the next of its pods is available: nothing else
// happens then.
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
