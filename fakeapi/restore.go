package fakeapi

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Restore stores objects of another server unchanged, without defaults, admission and validation. It replaces
// existing objects, and compacts all earlier revisions. Objects created later get UIDs that the other server has not
// used. Kinds of restored CRDs exist only after Restore has returned: restore their objects in a second call.
func (s *Server) Restore(objects []runtime.Object) error {
	latest := s.version + 1
	for _, obj := range objects {
		k := s.KindOf(obj)
		if k == nil {
			return fmt.Errorf("the kind %s is not served", obj.GetObjectKind().GroupVersionKind())
		}
		m := metadata.Of(obj)
		version, err := strconv.ParseUint(m.GetResourceVersion(), 10, 64)
		switch {
		case m.GetName() == "" || m.GetUID() == "":
			return fmt.Errorf("%s %s: a stored object has a name and a uid", k.GVK.Kind, m.GetName())
		case k.Namespaced == (m.GetNamespace() == ""):
			return fmt.Errorf("%s %s: its namespace %q does not fit the kind", k.GVK.Kind, m.GetName(),
				m.GetNamespace())
		case err != nil || version == 0:
			return fmt.Errorf("%s %s: resourceVersion %q is not a revision", k.GVK.Kind, m.GetName(),
				m.GetResourceVersion())
		}
		latest = max(latest, version+1)
	}
	s.version = latest
	for _, obj := range objects {
		k := s.KindOf(obj)
		c := obj.DeepCopyObject()
		if k.stored != nil {
			var err error
			if c, err = s.convert(k, obj, true); err != nil {
				return fmt.Errorf("%s %s: %w", k.GVK.Kind, metadata.Of(obj).GetName(), err)
			}
			k = k.stored
		}
		c.GetObjectKind().SetGroupVersionKind(k.GVK)
		m := metadata.Of(c)
		e := newEntry(k.key(m.GetNamespace(), m.GetName()), c)
		t := s.writable(k)
		t.put(s.find(t, e.key), e)
	}
	s.Compact(latest)
	for _, t := range s.tables {
		if t.log != nil {
			panic("fakeapi: a restored server remembers changes of " + t.kind.GVK.Kind)
		}
	}
	s.born = int(latest)
	s.syncKinds()
	return nil
}
