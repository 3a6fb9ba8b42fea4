package scenarios

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	encoding "encoding/json"

	"github.com/threelaws/threelaws/fakeapi"
)

// decode fills an object of the kind; a field the kind does not have is an
// error on the field's own line.
func (d *decoder) decode(n *yaml.Node, kind *fakeapi.Kind, data []byte) (runtime.Object, error) {
	obj := kind.New()
	if u, ok := obj.(runtime.Unstructured); ok {
		var tree map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &tree); err != nil {
			return nil, d.wrong(d.line(n), "bad %s in %s: %v", kind.GVK.Kind, d.section.Name, err)
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

// typeError is a value of the wrong type.
func (d *decoder) typeError(n *yaml.Node, kind *fakeapi.Kind, err error) error {
	var te *encoding.UnmarshalTypeError
	path, what := "", strings.TrimPrefix(err.Error(), "json: ")
	if errors.As(err, &te) {
		path, what = te.Field, "a "+te.Value+" where a "+te.Type.String()+" belongs"
	} else if _, rest, ok := strings.Cut(err.Error(), "Go struct field "); ok {
		field, rest, _ := strings.Cut(rest, " ")
		_, path, _ = strings.Cut(field, ".")
		value, _, _ := strings.Cut(strings.TrimPrefix(what, "cannot unmarshal "), " into ")
		what = "a " + value + " where a" + strings.TrimPrefix(rest, "of type") + " belongs"
	}
	at, _ := find(n, path)
	return d.wrong(d.line(at), "bad %s in %s: %s: %s", kind.GVK.Kind, d.section.Name, path, what)
}

// fieldError is a field the kind does not have.
func (d *decoder) fieldError(n *yaml.Node, kind *fakeapi.Kind, obj runtime.Object, err error) error {
	var fe interface{ FieldPath() string }
	if !errors.As(err, &fe) {
		return d.wrong(d.line(n), "bad %s in %s: %v", kind.GVK.Kind, d.section.Name, err)
	}
	path := fe.FieldPath()
	at, _ := find(n, path)
	parent, last := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, last = path[:i], path[i+1:]
	}
	if !strings.HasPrefix(err.Error(), "unknown field") {
		return d.wrong(d.line(at), "bad %s in %s: %v", kind.GVK.Kind, d.section.Name, err)
	}
	valid := fieldNames(reflect.TypeOf(obj), parent)
	hint := ""
	if near := Nearest(last, valid); near != "" {
		hint = "; did you mean " + near + "?"
	}
	return d.wrong(d.line(at), "unknown field %s of %s in %s%s", path, kind.GVK.Kind, d.section.Name, hint)
}

// find goes down a mapping by a path like spec.containers[0].name. It returns
// the key's node, or the deepest one found.
func find(n *yaml.Node, path string) (*yaml.Node, bool) {
	at := n
	for _, part := range steps(path) {
		if i, err := strconv.Atoi(part); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			n = n.Content[i]
			at = n
			continue
		}
		next := false
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, part) {
				at, n, next = n.Content[i], n.Content[i+1], true
				break
			}
		}
		if !next {
			return at, false
		}
	}
	return at, true
}

// steps cuts a field path at dots and brackets.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// fieldNames lists the JSON names of the fields of a type at a path.
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

// checkSelector refuses an object whose selector does not match the labels of
// its own template, before any server is asked.
func (d *decoder) checkSelector(n *yaml.Node, tree any) error {
	spec, _ := lookup(tree, "spec").(map[string]any)
	template, _ := lookup(spec, "template", "metadata", "labels").(map[string]any)
	if _, ok := spec["template"]; !ok {
		return nil
	}
	raw, ok := spec["selector"].(map[string]any)
	if !ok || len(raw) == 0 {
		return nil
	}
	selector, err := toSelector(raw)
	at, _ := find(n, "spec.selector")
	if err != nil {
		return d.wrong(d.line(at), "spec.selector: %v", err)
	}
	set := labels.Set{}
	for k, v := range template {
		if s, ok := v.(string); ok {
			set[k] = s
		}
	}
	if manual, ok := spec["manualSelector"]; lookup(tree, "kind") == "Job" && (!ok || manual != true) || selector.Matches(set) {
		return nil
	}
	return d.wrong(d.line(at), "spec.selector %s does not match the template's labels %s", selector, orNone(set.String()))
}

// toSelector reads a label selector in either form.
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
	data, err := encoding.Marshal(raw)
	if err != nil {
		return nil, err
	}
	var s metav1.LabelSelector
	if err := encoding.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	return metav1.LabelSelectorAsSelector(&s)
}

func lookup(tree any, path ...string) any {
	for _, p := range path {
		m, ok := tree.(map[string]any)
		if !ok {
			return nil
		}
		tree = m[p]
	}
	return tree
}

func orNone(s string) string {
	if s == "" {
		return None
	}
	return s
}
