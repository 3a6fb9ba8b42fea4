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
// the keys of maps sorted, the entries of lists in the order of the first, then those
// that only the second has. Lists of plain values differ as a whole; other lists are
// compared entry by entry, by name where they have names, else by place.
func Of(a, b any) []Leaf {
	var r reporter
	cmp.Equal(a, b, cmp.Reporter(&r), options)
	slices.SortStableFunc(r.leaves, func(x, y found) int { return slices.Compare(x.places, y.places) })
	out := make([]Leaf, 0, len(r.leaves))
	for _, f := range r.leaves {
		l := f.Leaf
		at, isOrder := strings.CutSuffix(l.Path, order)
		// entries that differ say already that the list is another
		if isOrder && slices.ContainsFunc(r.leaves, func(m found) bool { return m.shownBelow(at) }) {
			continue
		}
		l.Path, l.Order = at, isOrder
		out = append(out, l)
	}
	return out
}

// found is a leaf as the reporter comes to it.
type found struct {
	Leaf
	places []int // of each step to it among its siblings
}

// shownBelow reports whether the leaf is in an entry of a list, and tells of something:
// numbers of two types may be one in JSON.
func (f found) shownBelow(list string) bool {
	return strings.HasPrefix(f.Path, list+"[") && JSON(f.Was) != JSON(f.Is)
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
	cmp.FilterPath(unexported, cmp.Ignore()),
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

// unexported reports whether a path ends at a field that no JSON tells of.
func unexported(p cmp.Path) bool {
	f, ok := p.Index(-1).(cmp.StructField)
	return ok && !p.Index(-2).Type().Field(f.Index()).IsExported()
}

// oneIsNil reports whether one of two maps is nil: it holds what an empty one holds.
func oneIsNil(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	return a.Kind() == reflect.Map && b.Kind() == reflect.Map && a.IsNil() != b.IsNil() && !whole(x, y)
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
	places []int // of each step of the path
	steps  int   // so far
	leaves []found
}

// PushStep is called on the way into a value.
func (r *reporter) PushStep(s cmp.PathStep) {
	r.steps++
	r.path, r.places = append(r.path, s), append(r.places, r.steps)
	if m, ok := s.(cmp.MapIndex); ok && len(r.path) > 2 {
		r.places[len(r.places)-1] = placeOf(m.Key().String(), r.path.Index(-3), r.steps)
	}
}

// placeOf is the place of an entry in two lists that were made into entries by name,
// and otherwise what it is to be without them.
func placeOf(name string, lists cmp.PathStep, otherwise int) int {
	was, is := lists.Values()
	if !was.IsValid() || was.Type() != reflect.TypeFor[entries]() {
		return otherwise
	}
	before, after := was.Interface().(entries).Order, is.Interface().(entries).Order
	if at := slices.Index(before, name); at >= 0 {
		return at
	}
	if at := slices.Index(after, name); at >= 0 {
		return len(before) + at
	}
	return otherwise
}

// PopStep is called on the way out.
func (r *reporter) PopStep() {
	r.path, r.places = r.path[:len(r.path)-1], r.places[:len(r.places)-1]
}

// Report is called at each leaf.
func (r *reporter) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	was, is := r.path.Last().Values()
	if empty(Inside(was)) && empty(Inside(is)) {
		return
	}
	l := Leaf{Path: r.text(), Was: was, Is: is}
	r.leaves = append(r.leaves, found{Leaf: l, places: slices.Clone(r.places)})
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
