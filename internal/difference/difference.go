// Package difference tells in which fields two versions of an object differ, in the
// words of its JSON: lists whose entries have names are compared by name, a value that
// prints itself is one value whatever it is made of, and a list or map is the same
// empty as not there.
//
// go-cmp compares lists by position and shows neither the order of named entries nor a change of it,
// and with options and a Reporter for the rest it takes seven times as long. Its verdict of equal or
// not is the reference of the tests.
package difference

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
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
	var w walk
	w.values("", reflect.ValueOf(a), reflect.ValueOf(b))
	return w.found
}

// walk goes through two values side by side and collects where they differ.
type walk struct{ found []Leaf }

// values compares two values of any sort; one that is not there is invalid.
func (w *walk) values(path string, a, b reflect.Value) {
	a, b = Inside(a), Inside(b)
	if empty(a) && empty(b) || identical(a, b) {
		return
	}
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() || printsItself(a) {
		w.leaf(path, a, b)
		return
	}
	switch a.Kind() {
	case reflect.Struct:
		w.structs(path, a, b)
	case reflect.Map:
		w.maps(path, a, b)
	case reflect.Slice, reflect.Array:
		w.lists(path, a, b)
	default:
		w.leaf(path, a, b)
	}
}

// leaf notes two values that differ, unless they are one in JSON.
func (w *walk) leaf(path string, a, b reflect.Value) {
	if JSON(a) != JSON(b) {
		w.found = append(w.found, Leaf{Path: path, Was: a, Is: b})
	}
}

func (w *walk) structs(path string, a, b reflect.Value) {
	for i := range a.NumField() {
		if f := a.Type().Field(i); f.IsExported() {
			w.values(below(path, JSONName(f)), a.Field(i), b.Field(i))
		}
	}
}

func (w *walk) maps(path string, a, b reflect.Value) {
	if a.Type().Key().Kind() != reflect.String {
		w.leaf(path, a, b)
		return
	}
	var names []string
	for _, m := range []reflect.Value{a, b} {
		for _, k := range m.MapKeys() { //detcheck:ordered the names are sorted below
			names = append(names, k.String())
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		key := reflect.ValueOf(name).Convert(a.Type().Key())
		w.values(belowKey(path, name), a.MapIndex(key), b.MapIndex(key))
	}
}

// lists compares entries of one name where they have names, and else entries of one
// place. A list of plain values is shown whole.
func (w *walk) lists(path string, a, b reflect.Value) {
	if plain(a.Type().Elem()) || plainEntries(a) && plainEntries(b) {
		w.leaf(path, a, b)
		return
	}
	if key := keyOf(a, b); key != "" {
		w.keyed(path, key, a, b)
		return
	}
	for i := range max(a.Len(), b.Len()) {
		w.values(path+"["+strconv.Itoa(i)+"]", entry(a, i), entry(b, i))
	}
}

func (w *walk) keyed(path, key string, a, b reflect.Value) {
	was, is := named(a, key), named(b, key)
	n := len(w.found)
	for i, name := range was {
		w.values(path+"["+name+"]", a.Index(i), entry(b, slices.Index(is, name)))
	}
	for i, name := range is {
		if !slices.Contains(was, name) {
			w.values(path+"["+name+"]", reflect.Value{}, b.Index(i))
		}
	}
	if n == len(w.found) && !slices.Equal(was, is) { // entries that differ say already that the list is another
		w.found = append(w.found, Leaf{path, reflect.ValueOf(was), reflect.ValueOf(is), true})
	}
}

// entry is one entry of a list, invalid where there is none.
func entry(list reflect.Value, i int) reflect.Value {
	if i < 0 || i >= list.Len() {
		return reflect.Value{}
	}
	return list.Index(i)
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
