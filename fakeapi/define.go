package fakeapi

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/conversion"
	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/custom"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// tableOf finds the table of a definition's objects. Tables outlive
// definitions: a definition that comes again finds what is left of its objects.
func (s *Server) tableOf(d *crd.Definition) *table {
	for _, t := range s.tables[len(builtin):] {
		if t.kind.custom.Definition.Name == d.Name {
			return t
		}
	}
	return nil
}

// syncKinds makes the server's kinds those that its definitions define.
func (s *Server) syncKinds() {
	kinds, single := known[:len(known):len(known)], builtin[:len(builtin):len(builtin)]
	alive := map[int]bool{}
	s.tables[definitionKind.ordinal].each("", func(e *entry) bool {
		d := e.obj.(*crd.Definition)
		if !crd.Served(d) {
			return true
		}
		t := s.tableOf(d)
		if t == nil || t.kind.versions == nil || !crd.Same(t.kind.custom.Definition, d) {
			t = s.define(t, d)
		}
		alive[t.kind.ordinal] = true
		kinds, single = append(kinds, t.kind.versions...), append(single, t.kind.counted())
		return true
	})
	for i := len(builtin); i < len(s.tables); i++ {
		if k := s.tables[i].kind; !alive[i] && k.versions != nil {
			gone := newKind(k.row, k.ordinal)
			gone.custom = k.custom
			s.writable(k).kind = gone
		}
	}
	s.kinds, s.single = kinds, single
}

// counted is the version in which a definition's objects are counted: the
// stored one, or, when that is not served, the first that is.
func (k *Kind) counted() *Kind {
	if k.custom.Version.Served || len(k.versions) == 0 {
		return k
	}
	return k.versions[0]
}

// define makes the kinds of a definition, and its table when there is none.
func (s *Server) define(t *table, d *crd.Definition) *table {
	ordinal := len(s.tables)
	if t != nil {
		ordinal = t.kind.ordinal
	}
	var stored *Kind
	made := make([]*Kind, len(d.Spec.Versions))
	merge := map[string]typed.ParseableType{}
	for i := range d.Spec.Versions {
		c := custom.Compile(d, &d.Spec.Versions[i], merge)
		made[i] = newKind(c.Row(), ordinal)
		made[i].custom = c
		made[i].ask, made[i].far = s.asker(d), s.farFrom(d)
		if c.Version.Storage {
			stored = made[i]
		}
	}
	for i, k := range made {
		if k != stored {
			k.stored = stored
			k.row.View = k.custom.ViewOf(stored.custom, k.row, stored.row)
		}
		if d.Spec.Versions[i].Served {
			stored.versions = append(stored.versions, k)
		}
	}
	// The first is preferred, as discovery lists them: see customresource_discovery_controller.go.
	slices.SortStableFunc(stored.versions, func(a, b *Kind) int {
		return version.CompareKubeAwareVersionStrings(b.GVK.Version, a.GVK.Version)
	})
	if t == nil {
		s.tables = append(s.tables[:len(s.tables):len(s.tables)], newTable(stored, s.token))
		return s.tables[ordinal]
	}
	t = s.writable(t.kind)
	was := t.kind.GVK.Version
	t.kind = stored
	t.reread(was)
	return t
}

// reread shows stored objects as the real server reads them when the schema or the
// storage version has changed since they were written: what the store holds stays as it
// is. What cannot be read yet, or no more, is away; see [call.settle].
func (t *table) reread(was string) {
	var all []*entry
	t.each("", func(e *entry) bool {
		all = append(all, e)
		return true
	})
	t.away = false
	for _, e := range all {
		now := *e
		if now.wrote == 0 && was != t.kind.GVK.Version {
			now.wrote = t.written(was)
		} else if t.version(e) == t.kind.GVK.Version {
			now.wrote = 0
		}
		if obj, err := t.read(&now, false); err != nil {
			now.away, t.away = true, true
		} else if now.away = false; !equality.Semantic.DeepEqual(obj, e.obj) {
			now.obj, now.meta, now.lazy = obj, metadata.Of(obj), true
		}
		if now != *e {
			t.objects.ReplaceOrInsert(&now)
		}
	}
}

// written is the mark of a version in which objects were stored.
func (t *table) written(version string) uint8 {
	i := slices.Index(t.versions, version)
	if i < 0 {
		i = len(t.versions)
		t.versions = append(t.versions[:i:i], version)
	}
	return uint8(i + 1)
}

// version is the one that an object was stored in.
func (t *table) version(e *entry) string {
	if e.wrote == 0 {
		return t.kind.GVK.Version
	}
	return t.versions[e.wrote-1]
}

// errAway says that a webhook has to be called to read an object.
var errAway = errors.New("it is to be converted")

// read is what a stored object is in the version that is stored now. Unless calls says so,
// no webhook is called for it.
func (t *table) read(e *entry, calls bool) (runtime.Object, error) {
	k := t.kind
	if v := t.version(e); !crd.HasVersion(k.custom.Definition, v) {
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s/%s", k.GVK.Group, v)
	}
	obj := e.obj
	if k.ask != nil && obj.GetObjectKind().GroupVersionKind() != k.GVK {
		if k.far() && !calls {
			return nil, errAway
		}
		out, err := conversion.To(obj.(*unstructured.Unstructured), k.GVK.GroupVersion(), k.ask)
		if err != nil {
			return nil, err
		}
		obj = out
	}
	obj = obj.DeepCopyObject()
	obj.GetObjectKind().SetGroupVersionKind(k.GVK)
	k.Default(obj)
	return obj, nil
}
