package manifest

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi"
)

// decode fills an object of the kind. A field that the kind does not have is an error on that field's line.
func (d *decoder) decode(n *yaml.Node, kind *fakeapi.Kind, data []byte) (runtime.Object, error) {
	obj := kind.New()
	if u, ok := obj.(runtime.Unstructured); ok {
		var tree map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &tree); err != nil {
			return nil, d.Wrong(d.line(n), "bad %s in %s: %v", kind.GVK.Kind, d.Name, err)
		}
		u.SetUnstructuredContent(tree)
		return obj, d.checkSchema(n, kind, tree)
	}
	strict, err := kjson.UnmarshalStrict(data, obj)
	if err != nil {
		return nil, d.typeError(n, kind, err)
	}
	if len(strict) > 0 {
		return nil, d.fieldError(n, kind, obj, strict[0])
	}
	return obj, nil
}

// typeError reports a value of the wrong type.
func (d *decoder) typeError(n *yaml.Node, kind *fakeapi.Kind, err error) error {
	var te *json.UnmarshalTypeError
	path, what := "", strings.TrimPrefix(err.Error(), "json: ")
	if errors.As(err, &te) {
		path, what = te.Field, "a "+te.Value+" where a "+te.Type.String()+" belongs"
	} else if _, rest, ok := strings.Cut(err.Error(), "Go struct field "); ok {
		field, rest, _ := strings.Cut(rest, " ")
		_, path, _ = strings.Cut(field, ".")
		value, _, _ := strings.Cut(strings.TrimPrefix(what, "cannot unmarshal "), " into ")
		what = "a " + value + " where a" + strings.TrimPrefix(rest, "of type") + " belongs"
	}
	at := find(n, path)
	return d.Wrong(d.line(at), "bad %s in %s: %s: %s", kind.GVK.Kind, d.Name, path, what)
}

// fieldError reports a field that the kind does not have.
func (d *decoder) fieldError(n *yaml.Node, kind *fakeapi.Kind, obj runtime.Object, err error) error {
	var fe interface{ FieldPath() string }
	if !errors.As(err, &fe) {
		return d.Wrong(d.line(n), "bad %s in %s: %v", kind.GVK.Kind, d.Name, err)
	}
	path := fe.FieldPath()
	at := find(n, path)
	if !strings.HasPrefix(err.Error(), "unknown field") {
		return d.Wrong(d.line(at), "bad %s in %s: %v", kind.GVK.Kind, d.Name, err)
	}
	parent, last := cutPath(path)
	hint := didYouMean(last, fieldNames(reflect.TypeOf(obj), parent))
	return d.Wrong(d.line(at), "unknown field %s of %s in %s%s", path, kind.GVK.Kind, d.Name, hint)
}

// fieldNames lists the JSON names of a type's fields at a path.
func fieldNames(t reflect.Type, path string) []string {
	for _, part := range steps(path) {
		t = deref(t)
		switch t.Kind() {
		case reflect.Struct:
			f, ok := fieldNamed(t, part)
			if !ok {
				return nil
			}
			t = f
		case reflect.Slice, reflect.Map:
			t = t.Elem()
		default:
			return nil
		}
	}
	t = deref(t)
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		name, inline := jsonName(t.Field(i))
		if inline {
			names = append(names, fieldNames(t.Field(i).Type, "")...)
		} else if name != "" {
			names = append(names, name)
		}
	}
	return names
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func fieldNamed(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		if n, _ := jsonName(t.Field(i)); n == name {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

func jsonName(f reflect.StructField) (name string, inline bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, name == "" && (strings.Contains(options, "inline") || f.Anonymous)
}
