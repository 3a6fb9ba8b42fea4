package host

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// kindState is what the cluster knows of one kind beside what the server stores:
// the latest version of every key, and digests over what is stored.
type kindState struct {
	kind            *fakeapi.Kind
	salt            uint64
	met             uint64              // the revision at which the cluster met it
	latest          map[string]*version // a removed key keeps its last, objectless version
	removed         []removal           // where the cluster forgets: those, oldest first
	exact, abstract uint64
	buf             []byte // for look-ups
}

// removal is the last version of a key that was removed, and the revision of that.
type removal struct {
	version  *version
	revision uint64
}

// current returns the latest version of an object, without allocating; nil when
// there never was one.
func (s *kindState) current(namespace, name string) *version {
	s.buf = s.buf[:0]
	if namespace != "" {
		s.buf = append(append(s.buf, namespace...), '/')
	}
	s.buf = append(s.buf, name...)
	return s.latest[string(s.buf)]
}

// commit wraps what was stored under a key, nil for a removal, and returns the
// versions before and after; nil for none.
func (s *kindState) commit(key string, obj runtime.Object) (before, after *version) {
	return s.commitVersion(key, obj, newVersion)
}

// commitVersion is commit, where versions are made otherwise.
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
		v.exact = sim.Mix(v.exact ^ sim.HashString(string(old.meta.GetUID()))) // the next of its name gets another
	}
	s.latest[key] = v
	s.exact += sim.Mix(v.exact)
	if obj == nil {
		return before, nil
	}
	s.abstract += sim.Mix(v.abstract)
	return before, v
}

// forget drops the versions of keys that were removed at a revision or before it, and
// have stayed so; the digest keeps that they were there.
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
