package render

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/objectdiff"
)

type changed struct {
	path     string // "spec.template.spec.containers[web].image"
	from, to string // the old and the new value as shortened JSON, or lists of names
}

func (d changed) String() string {
	if d.path == "spec.replicas" {
		return "replicas: " + d.from + " -> " + d.to
	}
	return d.path + ": " + d.from + " -> " + d.to
}

// shape returns the field's path without values. For spec.replicas it adds the values, to distinguish scalings.
func (d changed) shape() string {
	if d.path == "spec.replicas" {
		return d.String()
	}
	return d.path
}

type asked struct {
	bare  bool // return only the paths of fields, without values
	blind bool // ignore the status
}

// fields lists the fields outside of metadata that differ between two versions of an object. Fields of the status are
// in a separate list. The versions may be Go structs or maps.
func (o asked) fields(before, after any) (fields, status []changed) {
	for _, top := range tops(before, after) {
		switch {
		case top.name == "metadata" || top.name == "apiVersion" || top.name == "kind" || top.name == "":
		case top.name == "status":
			if !o.blind {
				status = append(status, o.below(top)...)
			}
		default:
			fields = append(fields, o.below(top)...)
		}
	}
	return fields, status
}

func (o asked) below(top field) (out []changed) {
	if top.was.IsValid() && top.is.IsValid() && reflect.DeepEqual(top.was.Interface(), top.is.Interface()) {
		return nil // a cheap check first, because most fields are equal
	}
	a, b := top.alone()
	for _, l := range objectdiff.Of(a, b) {
		from, to := text(l.Was, l.Order), text(l.Is, l.Order)
		switch {
		case from == to:
		case o.bare:
			out = append(out, changed{path: l.Path})
		case l.Order:
			out = append(out, changed{l.Path, from, to})
		default:
			from, to = objectdiff.Shorten(from, to)
			out = append(out, changed{l.Path, WithoutUIDs(from), WithoutUIDs(to)})
		}
	}
	return out
}

// text formats a value as JSON. If names is set, it formats a list of names.
func text(v reflect.Value, names bool) string {
	if names {
		return strings.Join(v.Interface().([]string), " ")
	}
	return objectdiff.JSON(v)
}

type field struct {
	name    string
	was, is reflect.Value
}

// alone returns two objects that contain only this field, with its old and its new value. The fields of a first status are
// listed one by one, so an absent status counts as an empty one.
func (f field) alone() (a, b map[string]any) {
	a, b = map[string]any{}, map[string]any{}
	if f.was.IsValid() {
		a[f.name] = f.was.Interface()
	} else if f.name == "status" {
		a[f.name] = map[string]any{}
	}
	if f.is.IsValid() {
		b[f.name] = f.is.Interface()
	}
	return a, b
}

// tops lists the top-level fields of two versions of an object. It returns nil if their types differ.
func tops(before, after any) (out []field) {
	a, b := content(before), content(after)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() {
		return nil
	}
	if a.Kind() == reflect.Struct {
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() {
				out = append(out, field{objectdiff.JSONName(f), a.Field(i), b.Field(i)})
			}
		}
		return out
	}
	names := map[string]bool{}
	for _, m := range []reflect.Value{a, b} {
		for _, k := range m.MapKeys() { //detcheck:ordered the names are sorted below
			names[k.String()] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		key := reflect.ValueOf(name)
		out = append(out, field{name, a.MapIndex(key), b.MapIndex(key)})
	}
	return out
}

// content returns the map of an unstructured object, or the struct of another object, or an invalid value.
func content(obj any) reflect.Value {
	if u, ok := obj.(interface{ UnstructuredContent() map[string]any }); ok {
		return reflect.ValueOf(u.UnstructuredContent())
	}
	if v := reflect.Indirect(reflect.ValueOf(obj)); v.IsValid() && v.Kind() == reflect.Struct {
		return v
	}
	return reflect.Value{}
}
