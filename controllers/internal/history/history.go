// Package history keeps the earlier templates of a StatefulSet or DaemonSet as ControllerRevisions.
//
// A revision contains a strategic merge patch that restores the template. A controller finds the revision by the bytes
// of this patch. The revision's name ends in a hash of the bytes, but another revision may have this name.
package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/sim/host"
)

// Without configures a mutant (package mutants). Each field disables one check. Its comment says what the mutant does.
type Without struct {
	Collision bool // return an error if a different revision has the name
	Live      bool // delete old revisions that are in use
}

var resource = appsv1.SchemeGroupVersion.WithResource("controllerrevisions").GroupResource()

// History reads and writes the revisions of one set during one reconcile.
type History struct {
	Client    host.Client
	Owner     metav1.Object // the set, as cached
	Revisions cache.Indexer // a cache of ControllerRevisions; see [Index]
	Without   *Without
}

// List returns the matching revisions that the set controls or that have no controller. They are sorted by [Sort].
func (h *History) List(matches func(labels map[string]string) bool) []*appsv1.ControllerRevision {
	list := slices.DeleteFunc(Own(h.Revisions, h.Owner),
		func(r *appsv1.ControllerRevision) bool { return !matches(r.Labels) })
	Sort(list)
	return list
}

// Adopt makes the set the controller of ownerless revisions, if the server shows that the set still exists (ADOPT-4).
// It returns the revisions that the set then owns. It stops at the first error, because a reconcile needs all of them
// (RULES F62). It skips terminating revisions (ADOPT-5), and all revisions of a terminating set (ADOPT-3). Upstream
// does not skip them, and fails the reconcile of a terminating set.
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

// Create creates a revision, and returns it and the number of collisions. The name ends in a hash of the data and of
// that number. If a revision with other data has the name, Create counts a collision and uses another name
// (kubernetes#49909). It returns an existing revision with the same data, even if another owner has it (RULES L117).
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

// Renumber changes the number of a revision, because after a rollback it is the newest again. After a conflict it
// retries with the cached version.
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

// attempts is the maximum number of tries to renumber a revision after conflicts.
const attempts = 4

// Truncate deletes the oldest of the sorted revisions until at most limit unused ones are left. live reports whether a
// revision is in use. A negative limit means no limit. Each delete carries the uid (EXACT-4).
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
		// Require the version that was read, because the newest revision must stay. Upstream deletes by name.
		err := h.Client.Delete(ctx, Kind, r.Namespace, r.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &r.UID, ResourceVersion: &r.ResourceVersion}})
		if err != nil {
			return err
		}
	}
	return nil
}

var Kind = appsv1.SchemeGroupVersion.WithKind("ControllerRevision")

// HashLabel is a label of a StatefulSet's revisions. Its value is the hash in the revision's name.
const HashLabel = "controller.kubernetes.io/hash"

// Data returns the content of a template's revision, which depends only on the template. Fields are sorted by name as
// in upstream, so the bytes and names are the same as upstream's.
func Data(template *corev1.PodTemplateSpec) []byte {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(template)
	if err != nil {
		panic("history: a template that the server took did not convert: " + err.Error())
	}
	fields["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
	if err != nil {
		panic("history: a template that the server took did not encode: " + err.Error())
	}
	return data
}

// Memo caches the content of a template's revision by the set's key.
type Memo map[string]memorized

type memorized struct {
	uid        types.UID
	generation int64
	data       []byte
}

// Data is like the function [Data], but caches the result until the set's generation changes.
func (m Memo) Data(key string, set metav1.Object, template *corev1.PodTemplateSpec) []byte {
	e, ok := m[key]
	if !ok || e.uid != set.GetUID() || e.generation != set.GetGeneration() {
		e = memorized{set.GetUID(), set.GetGeneration(), Data(template)}
		m[key] = e
	}
	return e.data
}

// Restore returns a copy of a set with the content of a revision, such as the template. It returns an error if the
// revision does not fit: users can create revisions with any content.
func Restore[Set any](set *Set, revision *appsv1.ControllerRevision) (*Set, error) {
	now, err := json.Marshal(set)
	if err != nil {
		panic("history: a set that the server took did not encode: " + err.Error())
	}
	then, err := strategicpatch.StrategicMergePatch(now, revision.Data.Raw, *set)
	if err != nil {
		return nil, err
	}
	restored := new(Set)
	return restored, json.Unmarshal(then, restored)
}

// Hash returns a hash of a revision's data for its name, at most ten characters long. Each collision count gives
// another hash, and so does nil.
func Hash(data []byte, collisions *int32) string {
	h := fnv.New32()
	h.Write(data)
	if collisions != nil {
		h.Write(strconv.AppendInt(nil, int64(*collisions), 10))
	}
	return Safe(h.Sum32())
}

// Safe formats a hash in consonants and digits that form no words.
func Safe(hash uint32) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	text := strconv.AppendUint(nil, uint64(hash), 10)
	for i, c := range text {
		text[i] = letters[int(c)%len(letters)]
	}
	return string(text)
}

// Name returns the name of a set's revision. It shortens the set's name to leave room for the hash.
func Name(set, hash string) string {
	const room = 223
	return set[:min(len(set), room)] + "-" + hash
}

// Sort sorts revisions by number, then by age, then by name.
func Sort(revisions []*appsv1.ControllerRevision) {
	slices.SortStableFunc(revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			strings.Compare(a.Name, b.Name),
		)
	})
}

// Next returns the number for a new revision that follows the given sorted ones.
func Next(revisions []*appsv1.ControllerRevision) int64 {
	if len(revisions) == 0 {
		return 1
	}
	return revisions[len(revisions)-1].Revision + 1
}

func Holding(revisions []*appsv1.ControllerRevision, data []byte) []*appsv1.ControllerRevision {
	var same []*appsv1.ControllerRevision
	for _, r := range revisions {
		if bytes.Equal(r.Data.Raw, data) {
			same = append(same, r)
		}
	}
	return same
}

// ownerIndex indexes revisions by the uid of their controller. It indexes ownerless revisions by namespace, which is
// never a uid.
const ownerIndex = "threelaws/owner"

// Index adds the index for [Own] to a process's cache of revisions. Every controller of the process may call it.
func Index(revisions cache.Indexer) {
	if revisions.GetIndexers()[ownerIndex] != nil {
		return
	}
	err := revisions.AddIndexers(cache.Indexers{ownerIndex: func(obj any) ([]string, error) {
		r := obj.(*appsv1.ControllerRevision)
		if owner := metav1.GetControllerOfNoCopy(r); owner != nil {
			return []string{string(owner.UID)}, nil
		}
		return []string{nobodys(r.Namespace)}, nil
	}})
	if err != nil {
		panic("history: the index was there and was not: " + err.Error())
	}
}

func nobodys(namespace string) string { return "in " + namespace }

// Own returns the revisions in a set's namespace that the set controls or that have no controller, sorted by key.
func Own(revisions cache.Indexer, set metav1.Object) []*appsv1.ControllerRevision {
	own := by(revisions, ownerIndex, string(set.GetUID()))
	own = slices.DeleteFunc(own, func(r *appsv1.ControllerRevision) bool { return r.Namespace != set.GetNamespace() })
	if orphans := by(revisions, ownerIndex, nobodys(set.GetNamespace())); len(orphans) > 0 {
		own = append(own, orphans...)
		slices.SortFunc(own, func(a, b *appsv1.ControllerRevision) int { return strings.Compare(a.Name, b.Name) })
	}
	return own
}

// In returns the cached revisions of a namespace, sorted by key.
func In(revisions cache.Indexer, namespace string) []*appsv1.ControllerRevision {
	return by(revisions, cache.NamespaceIndex, namespace)
}

func by(revisions cache.Indexer, index, value string) []*appsv1.ControllerRevision {
	objs, err := revisions.ByIndex(index, value)
	if err != nil {
		panic("history: " + err.Error())
	}
	out := make([]*appsv1.ControllerRevision, len(objs))
	for i, obj := range objs {
		out[i] = obj.(*appsv1.ControllerRevision)
	}
	return out
}
