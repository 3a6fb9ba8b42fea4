package manifest

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/threelaws/threelaws/fakeapi"
)

// decode decodes an object of a kind. For a field that the kind does not have, it returns an error with the field's
// line.
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

// fieldError returns an error about a field that the kind does not have, or that occurs twice.
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

// checkSchema returns an error for a field that is not in the schema of a custom resource. The server would remove the
// field without an error. Field values are checked later, by the server.
func (d *decoder) checkSchema(n *yaml.Node, kind *fakeapi.Kind, tree map[string]any) error {
	_, version := kind.Definition()
	if version == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(tree)}
	unknown, err := kind.Prune(u)
	if err != nil {
		at := find(n, "metadata")
		return d.Wrong(d.line(at), "bad %s in %s: %v", kind.GVK.Kind, d.Name, err)
	}
	if len(unknown) == 0 {
		return nil
	}
	at := find(n, unknown[0])
	parent, last := cutPath(unknown[0])
	hint := didYouMean(last, schemaFields(version.Schema.OpenAPIV3Schema, parent))
	return d.Wrong(d.line(at), "unknown field %s of %s in %s%s", unknown[0], kind.GVK.Kind, d.Name, hint)
}

func schemaFields(s *apiextensionsv1.JSONSchemaProps, path string) []string {
	parts := steps(path)
	if len(parts) > 0 && parts[0] == "metadata" {
		return fieldNames(reflect.TypeFor[metav1.ObjectMeta](), strings.Join(parts[1:], "."))
	}
	for _, part := range parts {
		switch p, ok := s.Properties[part]; {
		case ok:
			s = &p
		case s.Items != nil && s.Items.Schema != nil:
			s = s.Items.Schema
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s = s.AdditionalProperties.Schema
		default:
			return nil
		}
	}
	names := []string{}
	if path == "" {
		names = append(names, "apiVersion", "kind", "metadata")
	}
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkSelector returns an error if an object's selector does not match the labels of its own template. The server sets
// the selector of a Job, so this is checked only if manualSelector is set.
func (d *decoder) checkSelector(n *yaml.Node, tree any) error {
	spec, _ := field(tree, "spec").(map[string]any)
	template, _ := field(spec, "template", "metadata", "labels").(map[string]any)
	if _, ok := spec["template"]; !ok {
		return nil
	}
	raw, ok := spec["selector"].(map[string]any)
	if !ok || len(raw) == 0 {
		return nil
	}
	selector, err := toSelector(raw)
	at := find(n, "spec.selector")
	if err != nil {
		return d.Wrong(d.line(at), "spec.selector: %v", err)
	}
	set := labels.Set{}
	for k, v := range template {
		if s, ok := v.(string); ok {
			set[k] = s
		}
	}
	manual := spec["manualSelector"] == true
	if field(tree, "kind") == "Job" && !manual || selector.Matches(set) {
		return nil
	}
	has := set.String()
	if has == "" {
		has = "(none)"
	}
	return d.Wrong(d.line(at), "spec.selector %s does not match the template's labels %s", selector, has)
}

func toSelector(raw map[string]any) (labels.Selector, error) {
	_, match := raw["matchLabels"]
	_, expressions := raw["matchExpressions"]
	if !match && !expressions {
		set := labels.Set{}
		for k, v := range raw {
			if s, ok := v.(string); ok {
				set[k] = s
			}
		}
		return set.AsSelector(), nil
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	var s metav1.LabelSelector
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&s)
}

func field(tree any, path ...string) any {
	m, _ := tree.(map[string]any)
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	return v
}
