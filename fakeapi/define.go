package fakeapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/custom"
)

// tableOf returns the table of a CRD's objects, or nil. A recreated CRD gets the old table with the remaining objects.
func (s *Server) tableOf(d *crd.Definition) *table {
	for _, t := range s.tables[len(builtin):] {
		if t.kind.custom.Definition.Name == d.Name {
			return t
		}
	}
	return nil
}

// syncKinds updates the server's kinds from its CRDs.
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
			t := s.writable(k)
			t.kind, t.renewed = gone, append(t.renewed, s.version)
		}
	}
	s.kinds, s.single = kinds, single
}

// lastRenewed returns the revision of the CRD's last change, or 0.
func (t *table) lastRenewed() uint64 {
	if len(t.renewed) == 0 {
		return 0
	}
	return t.renewed[len(t.renewed)-1]
}

// counted returns the version of k's kind that [Server.Kinds] returns.
func (k *Kind) counted() *Kind {
	if k.custom.Version.Served || len(k.versions) == 0 {
		return k
	}
	return k.versions[0]
}

// define creates a Kind for each version of a CRD. If t is nil, it also creates the table for the CRD's objects.
func (s *Server) define(t *table, d *crd.Definition) *table {
	ordinal := len(s.tables)
	if t != nil {
		ordinal = t.kind.ordinal
	}
	var stored *Kind
	made := make([]*Kind, len(d.Spec.Versions))
	all := &custom.Family{Versions: map[string]*custom.Resource{}, Merge: map[string]typed.ParseableType{}}
	for i := range d.Spec.Versions {
		c := custom.Compile(d, &d.Spec.Versions[i], all)
		made[i] = newKind(c.Row(), ordinal)
		made[i].custom = c
		made[i].hooked = crd.ByWebhook(d)
		if c.Version.Storage {
			stored = made[i]
		}
	}
	for i, k := range made {
		if k != stored {
			k.stored = stored
			k.row.View = k.custom.ViewOf(stored.custom, stored.row)
		}
		if d.Spec.Versions[i].Served {
			stored.versions = append(stored.versions, k)
		}
	}
	// in the order of discovery, which prefers the first version: see customresource_discovery_controller.go
	slices.SortStableFunc(stored.versions, func(a, b *Kind) int {
		return version.CompareKubeAwareVersionStrings(b.GVK.Version, a.GVK.Version)
	})
	if t == nil {
		t = newTable(stored, s.token)
		s.tables = append(s.tables[:len(s.tables):len(s.tables)], t)
	} else if t = s.writable(t.kind); t.kind.versions != nil && crd.SameStorage(t.kind.custom.Definition, d) {
		t.kind = stored
		return t
	}
	t.kind, t.renewed = stored, append(t.renewed, s.version)
	s.reread(t)
	return t
}

// reread decodes all stored objects with the changed CRD. It does not store the result.
func (s *Server) reread(t *table) {
	var all []*entry
	t.each("", func(e *entry) bool {
		all = append(all, e)
		return true
	})
	t.away, t.foreign = false, false
	for _, e := range all {
		now, err := s.read(t, e, false)
		if err != nil {
			now, t.away = &entry{key: e.key, obj: e.obj, meta: e.meta, rv: e.rv,
				stale: &stale{raw: e.written(), away: true}}, true
		}
		t.foreign = t.foreign || now.stale != nil && now.stale.as != nil
		t.objects.ReplaceOrInsert(now)
	}
}

// errAway is the error if reading an object needs a conversion webhook, but no webhook may be called.
var errAway = errors.New("it is to be converted")

// read decodes a stored object with the current CRD. It calls a webhook only if calls is set.
func (s *Server) read(t *table, e *entry, calls bool) (*entry, error) {
	k, raw := t.kind, e.written()
	from := raw.GetObjectKind().GroupVersionKind()
	in := k.custom.Versions[from.Version]
	if in == nil {
		return nil, fmt.Errorf("request to convert CR from an invalid group/version: %s", from.GroupVersion())
	}
	as := in.Read(raw)
	as.SetResourceVersion(strconv.FormatUint(e.rv, 10))
	now := &entry{key: e.key, obj: as, meta: as, rv: e.rv}
	if from != k.GVK {
		if s.far(k) && !calls {
			return nil, errAway
		}
		obj, err := k.custom.Convert(as, s.asker(k))
		if err != nil {
			return nil, err
		}
		now.obj, now.meta, now.stale = obj, obj, &stale{raw: raw, as: as}
	} else if !equality.Semantic.DeepEqual(as, raw) {
		now.stale = &stale{raw: raw}
	}
	return now, nil
}
