package host

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// mutationOf is the record of a cached object that was changed in place: which
// field. The original is decoded from what was stored.
func mutationOf(k *fakeapi.Kind, v *version) sim.Record {
	r := sim.Record{Op: sim.Mutation, Verb: "mutate", Object: refOf(k, v.meta), After: v.obj}
	r.Message = "a cached object"
	if original := decode(k.New(), v.encoded); original != nil {
		gvk := v.obj.GetObjectKind().GroupVersionKind() // not part of the encoding
		original.GetObjectKind().SetGroupVersionKind(gvk)
		r.Before = original
		a, b := reflect.ValueOf(original).Elem(), reflect.ValueOf(v.obj).Elem()
		if path, was, is := firstDifference(a, b, ""); path != "" {
			r.Message = fmt.Sprintf("%s: %s became %s", path, was, is)
			r.Reason = path
		}
	}
	return r
}

func decode(into runtime.Object, data []byte) runtime.Object {
	u, ok := into.(interface{ Unmarshal([]byte) error })
	if !ok || u.Unmarshal(data) != nil {
		return nil
	}
	return into
}

// firstDifference walks two values of one type and names the first field in
// which they differ, as a JSON path, with both values.
func firstDifference(a, b reflect.Value, path string) (string, string, string) {
	if a.Type() == reflect.TypeFor[metav1.Time]() {
		x, y := a.Interface().(metav1.Time), b.Interface().(metav1.Time)
		return leafDifference(x.Equal(&y), a, b, path)
	}
	switch a.Kind() {
	case reflect.Struct:
		return structDifference(a, b, path)
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return leafDifference(a.IsNil() == b.IsNil(), a, b, path)
		}
		return firstDifference(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		for i := range min(a.Len(), b.Len()) {
			if p, x, y := firstDifference(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); p != "" {
				return p, x, y
			}
		}
		return leafDifference(a.Len() == b.Len(), a, b, path)
	case reflect.Map:
		return mapDifference(a, b, path)
	default:
		return leafDifference(a.Equal(b), a, b, path)
	}
}

func leafDifference(same bool, a, b reflect.Value, path string) (string, string, string) {
	if same {
		return "", "", ""
	}
	return path, fmt.Sprintf("%v", a), fmt.Sprintf("%v", b)
}

func structDifference(a, b reflect.Value, path string) (string, string, string) {
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if p, x, y := firstDifference(a.Field(i), b.Field(i), join(path, jsonName(f))); p != "" {
			return p, x, y
		}
	}
	return "", "", ""
}

func mapDifference(a, b reflect.Value, path string) (string, string, string) {
	keys := map[string]reflect.Value{}
	for _, m := range []reflect.Value{a, b} {
		//detcheck:ordered string keys print apart, so no entry is written twice with another value
		for _, k := range m.MapKeys() {
			keys[fmt.Sprint(k)] = k
		}
	}
	for _, name := range sortedKeys(keys) {
		x, y := a.MapIndex(keys[name]), b.MapIndex(keys[name])
		at := join(path, name)
		switch {
		case !x.IsValid():
			return at, "(absent)", fmt.Sprint(y)
		case !y.IsValid():
			return at, fmt.Sprint(x), "(absent)"
		default:
			if p, s, t := firstDifference(x, y, at); p != "" {
				return p, s, t
			}
		}
	}
	return "", "", ""
}
