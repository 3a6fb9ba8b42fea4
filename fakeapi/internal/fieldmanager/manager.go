// Package fieldmanager notes who changes what of an object, and merges what is
// applied: it tells apimachinery's field managers what they have to know of a kind,
// which is how its fields are merged and how its versions become each other.
package fieldmanager

import (
	"strings"
	"sync"
	"unicode"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// Managers are the field managers of a kind, each made when it is first asked
// for; kinds are shared by all servers.
type Managers struct {
	lock sync.Mutex
	made map[string]*managedfields.FieldManager
}

// Of returns the manager of a subresource of the kind. Merge says how objects of a custom kind
// are merged; it is nil for built-in kinds.
func (ms *Managers) Of(k *registry.Kind, merge *Custom,
	subresource string) *managedfields.FieldManager {
	ms.lock.Lock()
	defer ms.lock.Unlock()
	if m := ms.made[subresource]; m != nil {
		return m
	}
	m, err := newManager(k, merge, subresource)
	if err != nil {
		panic("fakeapi: no field manager for " + k.GVK.String() + ": " + err.Error())
	}
	if ms.made == nil {
		ms.made = map[string]*managedfields.FieldManager{}
	}
	ms.made[subresource] = m
	return m
}

func newManager(k *registry.Kind, merge *Custom,
	subresource string) (*managedfields.FieldManager, error) {
	gv, reset := k.GVK.GroupVersion(), resetFields(k, merge != nil, subresource)
	if merge != nil {
		types := customConverter{converter{k: k}, merge}
		return managedfields.NewDefaultCRDFieldManager(types, types, types, types, k.GVK, gv, subresource, reset)
	}
	if family := k.Family(); len(family) > 1 {
		types := newFamilyConverter(k, family)
		return managedfields.NewDefaultFieldManager(types, types, types, types, k.GVK, gv, subresource, reset)
	}
	types := converter{k, mergeType(k)}
	return managedfields.NewDefaultFieldManager(types, types, types, types, k.GVK, gv, subresource, reset)
}

// resetFields are the fields that a write through the subresource leaves alone.
func resetFields(k *registry.Kind, custom bool, subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	version := fieldpath.APIVersion(k.GVK.GroupVersion().String())
	if w := k.Way(subresource); w != nil && w.Owns != nil {
		var owns []*fieldpath.SetMatcher
		for _, path := range w.Owns {
			steps := make([]any, len(path))
			for i, step := range path {
				if steps[i] = step; step == nil {
					steps[i] = fieldpath.MatchAnyPathElement()
				}
			}
			owns = append(owns, fieldpath.MakePrefixMatcherOrDie(steps...))
		}
		return map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewIncludeMatcherFilter(owns...)}
	}
	if !k.Status {
		return nil
	}
	set, more := fieldpath.NewSet(fieldpath.MakePathOrDie("status")), k.ResetByMain
	if subresource != "" {
		set, more = fieldpath.NewSet(fieldpath.MakePathOrDie("spec")), nil
	}
	if subresource == "status" {
		if more = k.ResetByStatus; custom {
			set.Insert(fieldpath.MakePathOrDie("metadata"))
		}
	}
	for _, path := range more {
		parts := make([]any, len(path))
		for i := range path {
			parts[i] = path[i]
		}
		set.Insert(fieldpath.MakePathOrDie(parts...))
	}
	return fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{
		version: set,
	})
}

// Name is the field manager's, or the first word of the user agent.
func Name(manager, agent string) string {
	if manager != "" {
		return manager
	}
	name, _, _ := strings.Cut(agent, "/")
	var b strings.Builder
	for _, r := range name {
		if unicode.IsPrint(r) && b.Len() < 128 {
			b.WriteRune(r)
		}
	}
	return b.String()
}
