package host

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// kindState is the cluster's knowledge of one kind besides the server's: the latest version of every key, and
// digests of the stored versions.
type kindState struct {
	kind            *fakeapi.Kind
	salt            uint64
	met             uint64              // the revision at which the cluster met the kind
	latest          map[string]*version // a removed key keeps its last version, without an object
	removed         []removal           // oldest first, if the cluster forgets
	exact, abstract uint64
	buf             []byte // for look-ups
}

// removal is the last version of a removed key, and the revision of the removal.
type removal struct {
	version  *version
	revision uint64
}

// current returns the latest version of an object without allocating; nil if there never was one.
func (s *kindState) current(namespace, name string) *version {
	s.buf = s.buf[:0]
	if namespace != "" {
		s.buf = append(append(s.buf, namespace...), '/')
	}
	s.buf = append(s.buf, name...)
	return s.latest[string(s.buf)]
}

// commit stores a new version of a key, with a nil obj for a removal. It returns the versions before and
// after; nil for none.
func (s *kindState) commit(key string, obj runtime.Object) (before, after *version) {
	return s.commitVersion(key, obj, newVersion)
}

// commitVersion is commit with another constructor of versions.
func (s *kindState) commitVersion(key string, obj runtime.Object, newVersion func(salt uint64, key string, n uint32,
	obj runtime.Object) *version) (before, after *version) {
	old := s.latest[key]
	n := uint32(1)
	if old != nil {
		n = old.n + 1
		s.exact -= sim.Mix(old.exact)
		if old.obj != nil {
			s.abstract -= sim.Mix(old.abstract)
			before = old
		}
	}
	v := newVersion(s.salt, key, n, obj)
	if obj == nil && before != nil {
		v.exact = sim.Mix(v.exact ^ sim.HashString(string(old.meta.GetUID()))) // the next object of this name gets another UID
	}
	s.latest[key] = v
	s.exact += sim.Mix(v.exact)
	if obj == nil {
		return before, nil
	}
	s.abstract += sim.Mix(v.abstract)
	return before, v
}

// forget drops versions of keys that were removed at or before a revision and not created again. The digest
// still counts them.
func (s *kindState) forget(revision uint64) {
	n := 0
	for ; n < len(s.removed) && s.removed[n].revision <= revision; n++ {
		if v := s.removed[n].version; s.latest[v.key] == v {
			delete(s.latest, v.key)
		}
	}
	kept := copy(s.removed, s.removed[n:])
	clear(s.removed[kept:])
	s.removed = s.removed[:kept]
}
