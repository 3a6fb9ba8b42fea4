package difference

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Inside follows pointers and interfaces; what is nil is invalid.
func Inside(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

// empty reports whether a value is not there, or holds no entries: an object's JSON is
// the same with and without it.
func empty(v reflect.Value) bool {
	return !v.IsValid() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// whole reports whether two values are shown whole, whatever they are made of: values
// that print themselves, as times and quantities do, bytes, lists of plain values, maps
// with other keys than strings.
func whole(x, y any) bool {
	a, b := reflect.ValueOf(x), reflect.ValueOf(y)
	if !a.IsValid() || !b.IsValid() || a.Type() != b.Type() || a.Kind() == reflect.Pointer {
		return false
	}
	switch t := a.Type(); {
	case t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler):
		return true
	case isList(a):
		return plain(t.Elem()) || plainEntries(a) && plainEntries(b)
	default:
		return t.Kind() == reflect.Map && t.Key().Kind() != reflect.String
	}
}

// sameWhole compares such values: by what they are made of, and where that differs by
// their JSON, which may be the same all the same.
func sameWhole(x, y any) bool {
	return reflect.DeepEqual(x, y) || JSON(reflect.ValueOf(x)) == JSON(reflect.ValueOf(y))
}

func isList(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

// plain reports whether values of a type have no fields or entries.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Interface:
		return false
	}
	return true
}

func plainEntries(list reflect.Value) bool {
	for i := range list.Len() {
		if v := Inside(list.Index(i)); v.IsValid() && !plain(v.Type()) {
			return false
		}
	}
	return true
}

// keyOf is the field by which the entries of two lists are told apart, "" where there
// is none: lists of API objects have a name, a type or a key for it.
func keyOf(a, b reflect.Value) string {
	for _, key := range []string{"name", "type", "key"} {
		if distinct(a, key) && distinct(b, key) {
			return key
		}
	}
	return ""
}

func distinct(list reflect.Value, key string) bool {
	seen := map[string]bool{"": true}
	for i := range list.Len() {
		n := nameOf(list.Index(i), key)
		if seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}

func nameOf(v reflect.Value, key string) string {
	v = Inside(v)
	if !v.IsValid() {
		return ""
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			v = Inside(v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())))
		}
	case reflect.Struct:
		v = fieldNamed(v, key)
	}
	if !v.IsValid() || v.Kind() != reflect.String {
		return ""
	}
	return v.String()
}

func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && JSONName(f) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// JSONName is what a field is called in an object's JSON, "" where the field's own
// fields stand in its place.
func JSONName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// JSON renders a value, and says none for one that is not there.
func JSON(v reflect.Value) string {
	if v = Inside(v); !v.IsValid() {
		return "none"
	}
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return v.Type().String()
	}
	return string(data)
}
