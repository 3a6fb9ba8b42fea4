// Package typedpatch merges strategic merge patches into Go structs as they are, where the
// general way turns the struct into maps, merges those, and turns them into a struct again.
// It gives up on what is rare: directives but the order of a list's elements, structs as values
// of maps, and all that is wrong with a patch. What it does is what the patch does.
package typedpatch

import (
	"reflect"
	"strings"
)

// order is the directive that says in which order the elements of a list are.
const order = "$setElementOrder/"

// Merge merges a patch into a struct. It returns false for what it leaves to the general way,
// and the struct is then of no use.
func Merge(into reflect.Value, patch map[string]any) bool {
	known := fieldsOf(into.Type())
	for key, value := range patch { //detcheck:ordered each field is merged by itself
		name, isOrder := strings.CutPrefix(key, order)
		f, ok := known[name]
		switch {
		case !ok:
			return false
		case isOrder:
			elements, too := patch[name]
			if _, is := value.([]any); !is || too && elements == nil ||
				!too && !mergeList(f.of(into), f.mergeKey, nil, value) {
				return false
			}
		case value == nil:
			f.of(into).SetZero()
		case f.mergeKey != "":
			elements, is := value.([]any)
			if !is || !mergeList(f.of(into), f.mergeKey, elements, patch[order+name]) {
				return false
			}
		case !merge(f.of(into), value):
			return false
		}
	}
	return true
}

// merge merges a value into another: into structs and maps what it has, and in place of all else.
func merge(into reflect.Value, value any) bool {
	fields, is := value.(map[string]any)
	switch {
	case !is || decodes(into):
		return set(into, value)
	case into.Kind() == reflect.Pointer && into.IsNil():
		return set(into, value)
	case into.Kind() == reflect.Pointer:
		return merge(into.Elem(), value)
	case into.Kind() == reflect.Struct:
		return Merge(into, fields)
	case into.Kind() == reflect.Map:
		return mergeMap(into, fields)
	}
	return false
}

// mergeMap sets keys of a map whose values are plain.
func mergeMap(into reflect.Value, patch map[string]any) bool {
	t := into.Type()
	if t.Key().Kind() != reflect.String {
		return false
	}
	fresh := into.IsNil()
	if fresh {
		into.Set(reflect.MakeMapWithSize(t, len(patch)))
	}
	for key, value := range patch { //detcheck:ordered each key is set by itself
		at := reflect.ValueOf(key).Convert(t.Key())
		if _, nested := value.(map[string]any); nested || strings.HasPrefix(key, "$") || value == nil && fresh {
			return false // a null stays in a list that is replaced, and nowhere else
		}
		if value == nil {
			into.SetMapIndex(at, reflect.Value{})
			continue
		}
		v := reflect.New(t.Elem()).Elem()
		if !set(v, value) {
			return false
		}
		into.SetMapIndex(at, v)
	}
	return true
}
