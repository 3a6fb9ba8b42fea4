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

// identical reports whether two values are equal to the last bit, so that there is
// nothing to look for in them.
func identical(a, b reflect.Value) bool {
	return a.IsValid() && b.IsValid() && a.CanInterface() && b.CanInterface() &&
		reflect.DeepEqual(a.Interface(), b.Interface())
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// printsItself reports whether a value is one in JSON whatever it is made of: a time, a
// quantity, bytes.
func printsItself(v reflect.Value) bool {
	t := v.Type()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) ||
		t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

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
		if distinct(named(a, key)) && distinct(named(b, key)) {
			return key
		}
	}
	return ""
}

func distinct(names []string) bool {
	seen := map[string]bool{"": true}
	for _, n := range names {
		if seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}

// named lists what the entries of a list are called.
func named(list reflect.Value, key string) []string {
	names := make([]string, list.Len())
	for i := range names {
		names[i] = nameOf(list.Index(i), key)
	}
	return names
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
