package typedpatch

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// field is one field of a struct, as JSON has it.
type field struct {
	index    []int
	kind     reflect.Kind
	mergeKey string // the field by which the elements of a list are merged; "" where the list is replaced
}

func (f field) of(v reflect.Value) reflect.Value { return v.FieldByIndex(f.index) }

// tables are the fields of the structs that were asked for, by type.
var tables sync.Map

// fieldsOf are the fields of a struct by their names in JSON, none for another type.
func fieldsOf(t reflect.Type) map[string]field {
	if known, ok := tables.Load(t); ok {
		return known.(map[string]field)
	}
	all := map[string]field{}
	if t.Kind() == reflect.Struct {
		list(all, t, nil)
	}
	known, _ := tables.LoadOrStore(t, all)
	return known.(map[string]field)
}

// list adds the fields of a struct that is found at an index.
func list(all map[string]field, t reflect.Type, at []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(at[:len(at):len(at)], i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && strings.Contains(options, "inline") && f.Type.Kind() == reflect.Struct:
			list(all, f.Type, index)
		case name == "" || name == "-" || !f.IsExported() || f.Tag.Get("patchStrategy") == "replace":
		case !strings.Contains(f.Tag.Get("patchStrategy"), "merge"):
			all[name] = field{index: index, kind: f.Type.Kind()}
		case f.Tag.Get("patchMergeKey") != "":
			all[name] = field{index: index, kind: f.Type.Kind(), mergeKey: f.Tag.Get("patchMergeKey")}
		}
	}
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodes reports whether a type reads JSON by itself.
func decodes(v reflect.Value) bool { return reflect.PointerTo(v.Type()).Implements(unmarshaler) }

// set puts a value, as JSON is decoded into, where there was none or another one.
func set(into reflect.Value, value any) bool {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if decodes(into) {
		text, err := json.Marshal(value)
		return value != nil && err == nil && into.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text) == nil
	}
	switch x := value.(type) {
	case string:
		return setString(into, x)
	case bool, int64, float64:
		return setPlain(into, reflect.ValueOf(x))
	case map[string]any:
		return setFields(into, x)
	case []any:
		return setElements(into, x)
	}
	return false
}

func setString(into reflect.Value, s string) bool {
	if into.Kind() != reflect.String {
		return false
	}
	into.SetString(s)
	return true
}

// setPlain sets a boolean or a number, of one that does not fit what fits, as apimachinery does.
func setPlain(into reflect.Value, v reflect.Value) bool {
	switch {
	case v.Kind() == reflect.Bool && into.Kind() == reflect.Bool:
		into.SetBool(v.Bool())
	case v.Kind() == reflect.Int64 && into.CanInt():
		into.SetInt(v.Int())
	case v.Kind() == reflect.Float64 && into.CanFloat():
		into.SetFloat(v.Float())
	default:
		return false
	}
	return true
}

// setFields sets a struct or a map to what a patch has, which says nothing of order then.
func setFields(into reflect.Value, fields map[string]any) bool {
	into.SetZero()
	switch into.Kind() {
	case reflect.Map:
		return mergeMap(into, fields)
	case reflect.Struct:
		return Merge(into, fields)
	}
	return false
}

func setElements(into reflect.Value, elements []any) bool {
	if into.Kind() != reflect.Slice || into.Type().Elem().Kind() == reflect.Uint8 {
		return false
	}
	all := reflect.MakeSlice(into.Type(), len(elements), len(elements))
	for i, e := range elements {
		if !set(all.Index(i), e) {
			return false
		}
	}
	into.Set(all)
	return true
}
