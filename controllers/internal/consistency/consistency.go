// Package consistency makes a controller wait until its caches show its own writes.
//
// A controller's caches lag behind its writes. Expectations prevent duplicate creations, but they expire after five
// minutes ([expectations.Timeout]), and they do not cover adoptions and status writes. Therefore some controllers of
// Kubernetes 1.36 record the resourceVersions of their writes. They begin a reconcile only after each cache has reached
// these versions (RULES D45 to D51).
package consistency

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// Store holds a controller's last writes for each owner. It is kept in memory, so a restarted process does not wait for
// its earlier writes (RULES D49). With a nil Store, every owner counts as ready (RULES D50).
type Store struct {
	behind func(gvk schema.GroupVersionKind, resourceVersion string) int
	owners map[string]*owner
}

// owner holds the last writes for one owner object, one for each kind: for example its last pod and its last status.
type owner struct {
	uid    types.UID
	writes []write
}

type write struct {
	kind    schema.GroupVersionKind
	version string
}

// New returns an empty store. behind is Env.Behind of package host. It returns how many watch events a kind's cache
// must still receive to reach a resourceVersion. The controller does not wait for kinds that the process does not
// watch, or for versions that are not numbers (RULES D49).
func New(behind func(gvk schema.GroupVersionKind, resourceVersion string) int) *Store {
	return &Store{behind: behind, owners: map[string]*owner{}}
}

// Wrote records a write for an owner. obj is the object in the response: a created or adopted pod, or the owner after a
// status write. Callers do not record deletions and releases (RULES D46, D47). key is the owner's namespace/name. If
// the record of this key has another uid, Wrote drops it first (RULES D48).
func (s *Store) Wrote(key string, uid types.UID, kind schema.GroupVersionKind, obj metav1.Object) {
	if s == nil {
		return
	}
	o := s.owners[key]
	if o == nil || o.uid != uid {
		o = &owner{uid: uid}
		s.owners[key] = o
	}
	version := obj.GetResourceVersion()
	for i := range o.writes {
		if w := &o.writes[i]; w.kind == kind {
			if c, err := resourceversion.CompareResourceVersion(w.version, version); err != nil || c < 0 {
				w.version = version
			}
			return
		}
	}
	o.writes = append(o.writes, write{kind, version})
}

// Ready returns an error while a cache does not show the last writes for an owner. When all caches show them, it drops
// the owner's record (RULES D48).
func (s *Store) Ready(key string) error {
	if s == nil || s.owners[key] == nil {
		return nil
	}
	for _, w := range s.owners[key].writes {
		if s.behind(w.kind, w.version) > 0 {
			return &NotSeen{Kind: w.kind, Version: w.version}
		}
	}
	delete(s.owners, key)
	return nil
}

// Clear drops the record with this key and uid. If uid is empty, it drops any record with this key (RULES D48).
func (s *Store) Clear(key string, uid types.UID) {
	if s == nil {
		return
	}
	if o := s.owners[key]; o != nil && (uid == "" || o.uid == uid) {
		delete(s.owners, key)
	}
}

// NotSeen is the error of [Store.Ready]: a cache does not show this write yet.
type NotSeen struct {
	Kind    schema.GroupVersionKind
	Version string
}

func (e *NotSeen) Error() string {
	return fmt.Sprintf("the cache of %s is older than its last write, resourceVersion %s", e.Kind.Kind, e.Version)
}

// Digest hashes, for each owner, the kinds whose cache does not show the last write yet, and how many watch events each
// of these caches must still receive.
func (s *Store) Digest(h *sim.Hash) {
	if s == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(s.owners)) {
		o := s.owners[key]
		var unseen uint64
		for _, w := range o.writes {
			if n := s.behind(w.kind, w.version); n > 0 {
				unseen += sim.Mix(sim.HashString(w.kind.String()) + uint64(n))
			}
		}
		if unseen != 0 {
			h.String(key)
			h.String(string(o.uid))
			h.Word(unseen)
		}
	}
}

// Pods returns a client that records each pod that it creates, updates or patches, as a write for the pod's controller.
// It does not record deletions and releases (RULES D46, D47). A released pod has no controller.
func (s *Store) Pods(c host.Client) host.Client {
	if s == nil {
		return c
	}
	return &recorder{c, s}
}

type recorder struct {
	host.Client
	store *Store
}

func (r *recorder) Create(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	made, err := r.Client.Create(ctx, obj)
	r.record(made)
	return made, err
}

func (r *recorder) Update(ctx context.Context, obj runtime.Object) (runtime.Object, error) {
	made, err := r.Client.Update(ctx, obj)
	r.record(made)
	return made, err
}

func (r *recorder) Patch(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string,
	p host.Patch) (runtime.Object, error) {
	made, err := r.Client.Patch(ctx, gvk, namespace, name, p)
	r.record(made)
	return made, err
}

// record records the pod in a response. obj is nil if the request was refused.
func (r *recorder) record(obj runtime.Object) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
		r.store.Wrote(p.Namespace+"/"+owner.Name, owner.UID, corev1.SchemeGroupVersion.WithKind("Pod"), p)
	}
}
