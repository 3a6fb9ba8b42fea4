package fakeapi

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

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
	if t == nil {
		s.tables = append(s.tables[:len(s.tables):len(s.tables)], newTable(stored, s.token))
		return s.tables[ordinal]
	}
	t = s.writable(t.kind)
	t.kind = stored
	reread(t)
	return t
}

// reread shows stored objects as the real server reads them when the schema
// has changed since they were written: what the store holds stays as it is.
func reread(t *table) {
	var all []*entry
	t.each("", func(e *entry) bool {
		all = append(all, e)
		return true
	})
	for _, e := range all {
		obj := e.obj.DeepCopyObject()
		obj.GetObjectKind().SetGroupVersionKind(t.kind.GVK)
		t.kind.Default(obj)
		if !equality.Semantic.DeepEqual(obj, e.obj) {
			t.objects.ReplaceOrInsert(&entry{key: e.key, obj: obj, meta: metadata.Of(obj), rv: e.rv, lazy: true})
		}
	}
}
