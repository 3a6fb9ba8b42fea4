// Package consistency lets a controller wait until its caches show what it wrote.
//
// A controller reads caches that lag behind its own writes. Expectations keep it
// from creating twice, but only for [expectations.Timeout], and they know nothing
// of adoptions and statuses. So since Kubernetes 1.36 some controllers note the
// resourceVersion of what they write, and do not begin a sync before each cache is
// as new (RULES D45 to D51).
package consistency

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/threelaws/threelaws/sim"
)

// Store holds what a controller wrote for each of its owners. It is memory: a
// process that starts again knows of no writes, and waits for none (RULES D49).
// A nil Store holds nothing, and every owner is ready (RULES D50).
type Store struct {
	behind func(gvk schema.GroupVersionKind, resourceVersion string) int
	owners map[string]*owner
}

// owner is what was written for one owner: of each kind the newest.
type owner struct {
	uid    types.UID
	writes []write
}

type write struct {
	kind    schema.GroupVersionKind
	version string
}

// New returns a store without records. A cache is ready where behind, which is
// the host's Env.Behind, says that no delivery is lacking: kinds that the process
// does not watch and versions that are no numbers are no reason to wait
// (RULES D49).
func New(behind func(gvk schema.GroupVersionKind, resourceVersion string) int) *Store {
	return &Store{behind: behind, owners: map[string]*owner{}}
}

// Wrote records that obj, of a kind, is as a write for an owner left it: a pod
// created, a pod adopted, the owner's own status. Deletions and releases are not
// recorded (RULES D46, D47). key is the owner's namespace/name; a record of another
// object of that name is dropped (RULES D48).
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

// Ready is an error while a cache does not show the last write for an owner. An
// owner that is ready has no record any more (RULES D48).
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

// Clear drops the record of an owner with this uid, or, without a uid, of whoever
// has the name (RULES D48).
func (s *Store) Clear(key string, uid types.UID) {
	if s == nil {
		return
	}
	if o := s.owners[key]; o != nil && (uid == "" || o.uid == uid) {
		delete(s.owners, key)
	}
}

// NotSeen says which write a cache does not show yet.
type NotSeen struct {
	Kind    schema.GroupVersionKind
	Version string
}

// Error says which.
func (e *NotSeen) Error() string {
	return fmt.Sprintf("the cache of %s is older than its last write, resourceVersion %s", e.Kind.Kind, e.Version)
}

// Digest folds in what is still to be seen, as the number of deliveries that show
// it. What has been seen counts as nothing: it makes no difference to any sync.
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
