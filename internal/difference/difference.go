// Package difference tells in which fields two versions of an object differ, in the
// words of its JSON. The comparing is go-cmp's; what this package adds is what the
// fields of API objects are: lists whose entries have names, values that are one
// value whatever they are made of, and lists and maps that are the same empty as
// not there.
package difference

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Leaf is one field in which two values differ.
type Leaf struct {
	Path    string        // "spec.template.spec.containers[web].image"; "" for the values themselves
	Was, Is reflect.Value // invalid where there is none
	Order   bool          // of a list whose entries are what they were: their names, in order
}

// Of lists where two values of one type differ: the fields of structs in their order,
// the keys of maps and the names of entries sorted. Lists of plain values differ as a
// whole; other lists are compared entry by entry, by name where they have names, else
// by place.
func Of(a, b any) []Leaf {
	var r reporter
	cmp.Equal(a, b, cmp.Reporter(&r), options)
	out := make([]Leaf, 0, len(r.leaves))
	for _, l := range r.leaves {
		at, isOrder := strings.CutSuffix(l.Path, order)
		// entries that differ say already that the list is another
		if isOrder && slices.ContainsFunc(r.leaves, func(m Leaf) bool { return strings.HasPrefix(m.Path, at+"[") }) {
			continue
		}
		l.Path, l.Order = at, isOrder
		out = append(out, l)
	}
	return out
}

// entries is a list as it is compared: by what its entries are called.
type entries struct {
	ByName map[string]any
	Order  []string
}

// order ends the path of a list whose entries stand in another order, until the
// path is told.
const order = "\x00"

var options = cmp.Options{
	cmp.FilterValues(whole, cmp.Comparer(sameWhole)),
	cmp.FilterValues(oneIsNil, cmp.Transformer("made", made)),
	byKey("name"), byKey("type"), byKey("key"), byKey(""),
}

// byKey compares lists whose entries are told apart by a field, "" for those that
// have none for it and are told apart by their place.
func byKey(key string) cmp.Option {
	return cmp.FilterValues(func(x, y any) bool {
		a, b := reflect.ValueOf(x), reflect.ValueOf(y)
		return isList(a) && isList(b) && !whole(x, y) && keyOf(a, b) == key
	}, cmp.Transformer("by_"+key, func(list any) entries { return entriesOf(reflect.ValueOf(list), key) }))
}

func entriesOf(list reflect.Value, key string) entries {
	e := entries{ByName: map[string]any{}}
	for i := range list.Len() {
		name := place(i)
		if key != "" {
			name = nameOf(list.Index(i), key)
			e.Order = append(e.Order, name)
		}
		e.ByName[name] = list.Index(i).Interface()
	}
	return e
}

// place names the entry of a list without names so that names sort as places do.
func place(i int) string {
	s := strconv.Itoa(i)
	return strings.Repeat("0", max(0, 6-len(s))) + s
}

// oneIsNil reports whether one of two maps is nil: it holds what an empty one holds.
func oneIsNil(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	return a.Kind() == reflect.Map && b.Kind() == reflect.Map && a.IsNil() != b.IsNil()
}

// made is a map that is not nil.
func made(m any) any {
	if v := reflect.ValueOf(m); v.IsNil() {
		return reflect.MakeMap(v.Type()).Interface()
	}
	return m
}

// reporter collects leaves as go-cmp comes to them.
type reporter struct {
	path   cmp.Path
	leaves []Leaf
}

// PushStep is called on the way into a value.
func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }

// PopStep is called on the way out.
func (r *reporter) PopStep() { r.path = r.path[:len(r.path)-1] }

// Report is called at each leaf.
func (r *reporter) Report(found cmp.Result) {
	if found.Equal() {
		return
	}
	was, is := r.path.Last().Values()
	if empty(Inside(was)) && empty(Inside(is)) {
		return
	}
	r.leaves = append(r.leaves, Leaf{Path: r.text(), Was: was, Is: is})
}

// text is the path in the words of JSON.
func (r *reporter) text() string {
	path, listed := "", ""
	for i, step := range r.path {
		switch s := step.(type) {
		case cmp.Transform:
			if s.Name() != "made" {
				listed = s.Name()
			}
		case cmp.StructField:
			in := r.path.Index(i - 1).Type()
			if in == reflect.TypeFor[entries]() {
				if s.Name() == "Order" {
					return path + order
				}
				continue
			}
			path = below(path, JSONName(in.Field(s.Index())))
		case cmp.MapIndex:
			name := s.Key().String()
			switch listed {
			case "":
				path = belowKey(path, name)
			case "by_":
				path += "[" + strings.TrimLeft(name[:len(name)-1], "0") + name[len(name)-1:] + "]"
			default:
				path += "[" + name + "]"
			}
			listed = ""
		}
	}
	return path
}

func below(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// belowKey is below for the keys of maps, which may have dots of their own.
func belowKey(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "[" + key + "]"
	}
	return below(path, key)
}
