package render

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// Object is one object of the world at a point of a history.
type Object struct {
	Ref      sim.Ref
	Owners   []Owner
	Deleting bool
}

// Objects returns the world after the records before index upto, from the commits alone, sorted by kind, namespace and
// name. A history that forgets returns only what it still holds.
func Objects(h *sim.History, upto int) []Object {
	latest := map[sim.Ref]any{}
	for i := 0; i < upto && i < h.Len(); i++ {
		r := h.At(i)
		if r == nil || r.Op != sim.Commit {
			continue
		}
		if r.After == nil {
			delete(latest, r.Object)
		} else {
			latest[r.Object] = r.After
		}
	}
	objs := make([]Object, 0, len(latest))
	for ref, obj := range latest { //detcheck:ordered sorted below, and each reference is there once
		objs = append(objs, Object{Ref: ref, Owners: Owners(obj), Deleting: Deleting(obj)})
	}
	slices.SortFunc(objs, func(a, b Object) int { return CompareRefs(a.Ref, b.Ref) })
	return objs
}

// CompareRefs orders references by kind, namespace and name; numbers at the end of names are compared by value.
func CompareRefs(a, b sim.Ref) int {
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	if c := naturally(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.UID, b.UID)
}

// naturally compares names so that web-2 comes before web-10.
func naturally(a, b string) int {
	x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	if x == y && len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// Related returns the objects connected with any of the given ones by owner references, in either direction.
func Related(objs []Object, refs ...sim.Ref) []Object {
	in := map[string]bool{}
	for _, r := range refs {
		in[id(r)] = true
	}
	for grown := true; grown; {
		grown = false
		for _, o := range objs {
			for _, w := range o.Owners {
				a, b := id(o.Ref), id(w.Ref)
				if in[a] != in[b] {
					in[a], in[b], grown = true, true, true
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(objs), func(o Object) bool { return !in[id(o.Ref)] })
}

// id is equal for an owner reference and its object.
func id(r sim.Ref) string { return r.Kind + "/" + r.Name + "/" + r.UID }
