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

// Without names guards to disable; see package mutants. The zero value keeps all. One place in the code checks each
// guard.
type Without struct {
	Collision bool // do not use another name when another revision has the name
	Live      bool // delete old revisions even if they are in use
}

var resource = appsv1.SchemeGroupVersion.WithResource("controllerrevisions").GroupResource()

// History is one set's history, for one reconcile.
type History struct {
	Client    host.Client
	Owner     metav1.Object // the set, as cached
	Revisions cache.Indexer // of ControllerRevisions, with [Index]
	Without   *Without
}

// List returns the revisions that are the set's or ownerless and whose labels match: the candidates of a claim, and its
// results.
func (h *History) List(matches func(labels map[string]string) bool) []*appsv1.ControllerRevision {
	list := slices.DeleteFunc(Own(h.Revisions, h.Owner),
		func(r *appsv1.ControllerRevision) bool { return !matches(r.Labels) })
	Sort(list)
	return list
}

// Adopt makes the set the controller of ownerless revisions, after a live check that it still exists (ADOPT-4), and
// returns those that it then owns. It stops at the first error: the reconcile does not know its history (RULES F62). It
// skips terminating revisions (ADOPT-5), and all revisions while the set itself is terminating (ADOPT-3). Upstream
// tries to adopt these, and the second case fails the reconcile.
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

// Create creates a revision, named by the hash of its data and the number of collisions, which it returns. If a
// revision of other data has the name, it counts one more collision and uses another name (CORPUS C32). An existing one
// with the same data counts as created, whoever owns it (RULES L117).
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

// Renumber gives a revision another number: after a rollback it is the newest again. After a conflict it retries with
// the cached version.
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

// attempts limits the tries of a conflicting write in a reconcile.
const attempts = 4

// Truncate deletes the oldest of the sorted revisions, until at most limit unused ones are left. Each delete carries
// the uid (EXACT-4); upstream's does not.
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
		// As it was read: a revision that has become the newest again must stay. Upstream deletes by name.
		err := h.Client.Delete(ctx, Kind, r.Namespace, r.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion}})
		if err != nil {
			return err
		}
	}
	return nil
}
