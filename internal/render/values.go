package render

import (
	"encoding/json"
	"reflect"
	"strings"
)

// inside follows pointers and interfaces; what is nil is invalid.
func inside(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

// empty reports whether a value is not there, or holds no entries: an object's
// JSON is the same with and without it.
func empty(v reflect.Value) bool {
	return !v.IsValid() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// identical reports whether two values are equal to the last bit, so that there
// is nothing to look for in them.
func identical(a, b reflect.Value) bool {
	return a.IsValid() && b.IsValid() && a.CanInterface() && b.CanInterface() &&
		reflect.DeepEqual(a.Interface(), b.Interface())
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// printsItself reports whether a value is one in JSON whatever it is made of:
// a time, a quantity, bytes.
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
		if v := inside(list.Index(i)); v.IsValid() && !plain(v.Type()) {
			return false
		}
	}
	return true
}

// keyOf is the field by which the entries of two lists are told apart, "" where
// there is none: lists of API objects have a name, a type or a key for it.
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
	v = inside(v)
	if !v.IsValid() {
		return ""
	}
	switch v.Kind() {
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			v = inside(v.MapIndex(reflect.ValueOf(key).Convert(v.Type().Key())))
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
		if f := v.Type().Field(i); f.IsExported() && jsonName(f) == name {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

// jsonName is what a field is called in an object's JSON, "" where the field's
// own fields stand in its place.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
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

// asJSON renders a value, and says none for one that is not there.
func asJSON(v reflect.Value) string {
	if v = inside(v); !v.IsValid() {
		return "none"
	}
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return v.Type().String()
	}
	return string(data)
}

// A value is shown up to longest columns; of two long ones that begin alike,
// the part that differs, with lead columns in front of it.
const (
	longest = 40
	lead    = 8
)

// cut shortens two different values so that they still differ.
func cut(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	if len(x) <= longest && len(y) <= longest {
		return a, b
	}
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	from := 0
	if same > longest/2 {
		from = same - lead
	}
	return window(x, from), window(y, from)
}

func window(text []rune, from int) string {
	head := ""
	if from > 0 {
		head = "..."
	}
	if text = text[from:]; len(text) > longest {
		return head + string(text[:longest]) + "..."
	}
	return head + string(text)
}
