package render

import (
	"reflect"
	"slices"
	"strings"
)

// difference is one field that a write changed.
type difference struct {
	path     string // "spec.template.spec.containers[web].image"
	from, to string // as JSON, cut where it is long
}

func (d difference) String() string {
	if d.path == "spec.replicas" {
		return "replicas: " + d.from + " -> " + d.to
	}
	return d.path + ": " + d.from + " -> " + d.to
}

// shape is the difference without its values, but for the replicas: scaling to
// another number is another deed.
func (d difference) shape() string {
	if d.path == "spec.replicas" {
		return d.String()
	}
	return d.path
}

// differences lists the fields that differ between two versions of an object,
// its metadata left out, those of the status apart. Both versions may be Go
// structs, or both maps as custom resources have them.
func (w *walk) differences(before, after any) (fields, status []difference) {
	a, b := content(before), content(after)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return nil, nil
	}
	if a.Kind() == reflect.Map {
		w.maps("", a, b)
	} else {
		w.structs("", a, b)
	}
	for _, d := range w.found {
		top, _, _ := strings.Cut(d.path, ".")
		top, _, _ = strings.Cut(top, "[")
		switch top {
		case "apiVersion", "kind":
		case "status":
			status = append(status, d)
		default:
			fields = append(fields, d)
		}
	}
	return fields, status
}

// content is what is to be compared of an object.
func content(obj any) reflect.Value {
	if u, ok := obj.(interface{ UnstructuredContent() map[string]any }); ok {
		return reflect.ValueOf(u.UnstructuredContent())
	}
	if v := reflect.Indirect(reflect.ValueOf(obj)); v.IsValid() && v.Kind() == reflect.Struct {
		return v
	}
	return reflect.Value{}
}

// walk goes through two values side by side and collects where they differ.
type walk struct {
	found []difference
	bare  bool // the paths alone are asked for
	blind bool // the status is not
}

func (w *walk) leaf(path string, a, b reflect.Value) {
	// and not identical
	if w.bare && a.IsValid() && b.IsValid() && a.Type() == b.Type() && plain(a.Type()) && !printsItself(a) {
		w.found = append(w.found, difference{path: path})
		return
	}
	from, to := asJSON(a), asJSON(b)
	if from == to {
		return
	}
	if w.bare {
		w.found = append(w.found, difference{path: path})
		return
	}
	from, to = cut(from, to)
	w.found = append(w.found, difference{path, WithoutUIDs(from), WithoutUIDs(to)})
}

// values compares two values of any sort; one that is not there is invalid.
func (w *walk) values(path string, a, b reflect.Value) {
	a, b = inside(a), inside(b)
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

func (w *walk) structs(path string, a, b reflect.Value) {
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() || path == "" && (f.Name == "ObjectMeta" || f.Name == "TypeMeta") {
			continue
		}
		name := jsonName(f)
		if w.blind && path == "" && name == "status" {
			continue
		}
		w.values(below(path, name), a.Field(i), b.Field(i))
	}
}

func (w *walk) maps(path string, a, b reflect.Value) {
	if a.Type().Key().Kind() != reflect.String {
		w.leaf(path, a, b)
		return
	}
	var names []string
	for _, m := range []reflect.Value{a, b} {
		for _, k := range m.MapKeys() {
			names = append(names, k.String())
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		key := reflect.ValueOf(name).Convert(a.Type().Key())
		if path == "" && (name == "metadata" || w.blind && name == "status") {
			continue
		}
		w.values(belowKey(path, name), a.MapIndex(key), b.MapIndex(key))
	}
}

// lists compares entries of one name where they have names, and else entries
// of one place. A list of plain values is shown whole.
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
		w.values(path+"["+itoa(i)+"]", entry(a, i), entry(b, i))
	}
}

func (w *walk) keyed(path, key string, a, b reflect.Value) {
	was, is := named(a, key), named(b, key)
	n := len(w.found)
	for i := range a.Len() {
		name := nameOf(a.Index(i), key)
		w.values(path+"["+name+"]", a.Index(i), entry(b, slices.Index(is, name)))
	}
	for i, name := range is {
		if !slices.Contains(was, name) {
			w.values(path+"["+name+"]", reflect.Value{}, b.Index(i))
		}
	}
	if n == len(w.found) && !slices.Equal(was, is) {
		w.found = append(w.found, difference{path, strings.Join(was, " "), strings.Join(is, " ")})
	}
}

// entry is one entry of a list, invalid where there is none.
func entry(list reflect.Value, i int) reflect.Value {
	if i < 0 || i >= list.Len() {
		return reflect.Value{}
	}
	return list.Index(i)
}
