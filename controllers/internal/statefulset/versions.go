package statefulset

import (
	"bytes"
	"context"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/internal/history"
)

// versions are the current and the update revision of a set. They are equal if there is nothing to update.
type versions struct {
	current, next version
	collisions    int32 // the number of collisions of revision names so far
}

// version is a revision, and the set with the template of that revision.
type version struct {
	revision string // the revision's name
	set      *appsv1.StatefulSet
}

// findVersions sets the current and the update revision. It creates the revision of the current template, or renumbers
// it after a rollback. For a terminating set it creates no revision (ADOPT-3), but upstream does (RULES F63).
func (s *syncing) findVersions(ctx context.Context, h *history.History,
	revisions []*appsv1.ControllerRevision) error {
	if s.set.Status.CollisionCount != nil {
		s.collisions = *s.set.Status.CollisionCount
	}
	if s.going() {
		s.current.revision, s.next.revision = s.set.Status.CurrentRevision, s.set.Status.UpdateRevision
		return nil
	}
	next, err := s.newest(ctx, h, revisions)
	if err != nil {
		return err
	}
	current := next
	for _, r := range revisions {
		if r.Name == s.set.Status.CurrentRevision {
			current = r
			break
		}
	}
	if s.next, err = s.at(next); err == nil {
		s.current, err = s.at(current)
	}
	return err
}

func (s *syncing) newest(ctx context.Context, h *history.History,
	revisions []*appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	data := s.data(s.key, s.set)
	same := history.Holding(revisions, data)
	var last *appsv1.ControllerRevision
	if len(revisions) > 0 {
		last = revisions[len(revisions)-1]
	}
	switch {
	case len(same) > 0 && bytes.Equal(last.Data.Raw, data):
		return last, nil
	case len(same) > 0:
		return h.Renumber(ctx, same[len(same)-1], history.Next(revisions))
	case last != nil && s.means(last, data):
		return last, nil
	}
	made := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Labels:          maps.Clone(s.set.Spec.Template.Labels),
			Annotations:     maps.Clone(s.set.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s.set, Kind)},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: history.Next(revisions),
	}
	made.Labels[history.HashLabel] = history.Hash(data, &s.collisions)
	made, collisions, err := h.Create(ctx, made, s.collisions)
	s.collisions = collisions
	return made, err
}

// means reports whether a revision with other bytes than data has the same template. It encodes the restored template
// again, with current defaults, and compares the bytes with data (bug C19 of the track record).
func (s *syncing) means(r *appsv1.ControllerRevision, data []byte) bool {
	then, err := history.Restore(s.set, r)
	if err != nil {
		return false
	}
	for _, k := range s.env.Kinds() {
		if k.GVK == Kind {
			k.Default(then)
		}
	}
	return bytes.Equal(history.Data(&then.Spec.Template), data)
}

func (s *syncing) at(r *appsv1.ControllerRevision) (version, error) {
	if bytes.Equal(r.Data.Raw, s.data(s.key, s.set)) {
		return version{r.Name, s.set}, nil
	}
	set, err := history.Restore(s.set, r)
	return version{r.Name, set}, err
}

// truncate deletes the oldest revisions beyond the history limit. It keeps revisions that the set or a pod uses.
func (s *syncing) truncate(ctx context.Context, h *history.History, revisions []*appsv1.ControllerRevision,
	pods []*corev1.Pod) error {
	if s.going() || s.set.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	live := map[string]bool{s.current.revision: true, s.next.revision: true}
	for _, p := range pods {
		live[revisionOf(p)] = true
	}
	return h.Truncate(ctx, revisions, func(r *appsv1.ControllerRevision) bool { return live[r.Name] },
		int(*s.set.Spec.RevisionHistoryLimit))
}

func revisionOf(p *corev1.Pod) string { return p.Labels[appsv1.StatefulSetRevisionLabel] }
