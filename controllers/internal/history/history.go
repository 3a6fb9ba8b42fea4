package history

import (
	"bytes"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/ref"
	"github.com/threelaws/threelaws/sim/host"
)

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	Collision bool // a name that is taken by another revision is no reason to take another one
	Live      bool // revisions that are in use are not spared when old ones are deleted
}

var resource = appsv1.SchemeGroupVersion.WithResource("controllerrevisions").GroupResource()

// History is one set's, for one sync.
type History struct {
	Client    host.Client
	Owner     metav1.Object // the set, as cached
	Revisions cache.Indexer // of ControllerRevisions, with [Index]
	Without   *Without
}

// List returns the revisions that are the set's, or nobody's, and whose labels
// match: what a claim is to look at, and what is left of it after one.
func (h *History) List(matches func(labels map[string]string) bool) []*appsv1.ControllerRevision {
	list := slices.DeleteFunc(Own(h.Revisions, h.Owner),
		func(r *appsv1.ControllerRevision) bool { return !matches(r.Labels) })
	Sort(list)
	return list
}

// Adopt makes those of the revisions that have no controller the set's, after a
// look whether it is still there (ADOPT-4), and returns those that are its own then.
// At the first error it stops: the sync does not know its history (RULES F62). One
// that is being deleted is let be (ADOPT-5), and so is each while the set itself is
// (ADOPT-3); upstream tries to adopt these, and fails the sync in the second case.
func Adopt(ctx context.Context, m *ref.Manager,
	revisions []*appsv1.ControllerRevision) ([]*appsv1.ControllerRevision, error) {
	own := make([]*appsv1.ControllerRevision, 0, len(revisions))
	for _, r := range revisions {
		is, err := m.Claim(ctx, r, true)
		if err != nil {
			return nil, err
		}
		if is {
			own = append(own, r)
		}
	}
	return own, nil
}

// Create makes a revision, named by the hash of its data and the number of
// collisions so far, which it returns: where the name is taken by a revision of
// other data there is one collision more, and another name (CORPUS C32). One that
// holds the same data is as good as made, whoever its owner is (RULES L117).
func (h *History) Create(ctx context.Context, revision *appsv1.ControllerRevision,
	collisions int32) (*appsv1.ControllerRevision, int32, error) {
	for {
		made := revision.DeepCopy()
		made.Name = Name(h.Owner.GetName(), Hash(revision.Data.Raw, &collisions))
		made.Namespace = h.Owner.GetNamespace()
		obj, err := h.Client.Create(ctx, made)
		if apierrors.IsAlreadyExists(err) {
			obj, err = h.Client.Get(ctx, Kind, made.Namespace, made.Name)
		} else if err == nil {
			return obj.(*appsv1.ControllerRevision), collisions, nil
		}
		if err != nil {
			return nil, collisions, err
		}
		there := obj.(*appsv1.ControllerRevision)
		if bytes.Equal(there.Data.Raw, made.Data.Raw) {
			return there, collisions, nil
		}
		if h.Without.Collision {
			return nil, collisions, apierrors.NewAlreadyExists(resource, made.Name)
		}
		collisions++
	}
}

// Renumber gives a revision another number: what was rolled back to is the newest
// again. It tries again with what the cache has when somebody else wrote it.
func (h *History) Renumber(ctx context.Context, revision *appsv1.ControllerRevision,
	number int64) (*appsv1.ControllerRevision, error) {
	var err error
	for range attempts {
		if revision.Revision == number {
			return revision, nil
		}
		changed := *revision
		changed.Revision = number
		if _, err = h.Client.Update(ctx, &changed); !apierrors.IsConflict(err) {
			return &changed, err
		}
		if obj, exists, _ := h.Revisions.GetByKey(revision.Namespace + "/" + revision.Name); exists {
			revision = obj.(*appsv1.ControllerRevision)
		}
	}
	return revision, err
}

// attempts is how often a write that is refused for a conflict is tried in a sync.
const attempts = 4

// Truncate deletes the oldest of the revisions, which are sorted, until no more
// than limit are left that are not in use. Each delete carries the uid
// (EXACT-4); upstream's does not.
func (h *History) Truncate(ctx context.Context, revisions []*appsv1.ControllerRevision,
	live func(*appsv1.ControllerRevision) bool, limit int) error {
	old := make([]*appsv1.ControllerRevision, 0, len(revisions))
	for _, r := range revisions {
		if !live(r) || h.Without.Live {
			old = append(old, r)
		}
	}
	if limit < 0 || len(old) <= limit {
		return nil
	}
	for _, r := range old[:len(old)-limit] {
		// As it was read: a revision that has become the newest again since is none to delete.
		// Upstream deletes by name.
		err := h.Client.Delete(ctx, Kind, r.Namespace, r.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion}})
		if err != nil {
			return err
		}
	}
	return nil
}
