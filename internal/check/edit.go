package check

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/threelaws/threelaws/internal/objectdiff"
)

// edit is a change of the sample's spec: a change of one field, or a patch from Operator.Edits.
type edit struct {
	path     []string // the path of the field, or of the list that contains it; nil for a patch from Operator.Edits
	from, to any      // the values at path before and after the edit; if path is nil, the undo patch and the patch
	name     string   // "spec.groups[0].replicas"
	was, is  any      // the values of the field before and after the edit
	had, has int      // the number of dependents before and after the edit
	back     int      // the number of dependents after the edit is undone
	tells    bool     // after the edit is undone, the conditions of the status are not as before the edit
	marks    []mark   // for a removal: the values that dependents have only because of the field
	refused  string   // the write that the server refuses after the edit; "" if there is none
	ends     bool     // in a quiet run, the edited and deleted sample no longer exists at the end
	needed   bool     // for a removal: an owner that is created without the field has no dependents
	after    *end     // the edited sample; nil in a timed world, or if the controller did not react
	made     *end     // an owner that was created with the edited spec; nil if that was not tried
}

// another returns a value that differs from v and that the schema allows, if it lists values or has a maximum. If the
// schema allows only v, the result is v.
func another(v any, schema *apiextensionsv1.JSONSchemaProps) any {
	if schema != nil && len(schema.Enum) > 0 {
		for _, item := range schema.Enum {
			var o any
			if json.Unmarshal(item.Raw, &o) == nil && o != v {
				return o
			}
		}
		return v
	}
	switch v := v.(type) {
	case int64:
		if schema != nil && schema.Maximum != nil && float64(v) >= *schema.Maximum {
			return v - 1
		}
		return v + 1
	case bool:
		return !v
	case string:
		if m := quantity.FindStringSubmatch(v); m != nil {
			if n, err := strconv.ParseInt(m[1], 10, 32); err == nil {
				return strconv.FormatInt(n+1, 10) + m[2]
			}
		}
	}
	return fmt.Sprint(v) + "x"
}

// quantity matches a number with an optional unit: "1Gi", "30s".
var quantity = regexp.MustCompile(`^([0-9]+)([A-Za-z%]{0,2})$`)

// fieldsOf returns edits of the scalar fields of a spec with this schema, or with nil. Fields that may be a number of
// dependents (replicas, size) come first, fields in lists last.
func fieldsOf(object map[string]any, schema *apiextensionsv1.JSONSchemaProps) []*edit {
	list := leaves(object["spec"], field(schema, "spec"), nil, "spec")
	rank := func(e *edit) int {
		switch {
		case count.MatchString(e.name):
			return 0
		case !strings.Contains(e.name, "["):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b *edit) int { return rank(a) - rank(b) })
	return list
}

var count = regexp.MustCompile(`(?i)(replicas|\.size|\.count|\.parallelism)$`)

func leaves(value any, schema *apiextensionsv1.JSONSchemaProps, list []*edit, path ...string) []*edit {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = leaves(v[key], field(schema, key), list, append(slices.Clone(path), key)...)
		}
	case []any:
		var of *apiextensionsv1.JSONSchemaProps
		if schema != nil && schema.Items != nil {
			of = schema.Items.Schema
		}
		for i, item := range v {
			for _, e := range leaves(item, of, nil, "") {
				list = append(list, &edit{path: path, from: v, to: within(v, i, e.path[1:], e.to), was: e.was, is: e.is,
					name: fmt.Sprintf("%s[%d]%s", strings.Join(path, "."), i, e.name)})
			}
		}
	case string, int64, bool:
		if to := another(v, schema); to != v {
			list = append(list, &edit{path: path, from: v, to: to, was: v, is: to, name: strings.Join(path, ".")})
		}
	}
	return list
}

// field returns the schema of a field, or nil if there is none.
func field(schema *apiextensionsv1.JSONSchemaProps, name string) *apiextensionsv1.JSONSchemaProps {
	if schema == nil {
		return nil
	}
	if of, is := schema.Properties[name]; is {
		return &of
	}
	if schema.AdditionalProperties != nil {
		return schema.AdditionalProperties.Schema
	}
	return nil
}

// within returns a copy of a list in which one item or a field of one item is replaced.
func within(list []any, item int, path []string, value any) []any {
	copied := runtime.DeepCopyJSONValue(list).([]any)
	if len(path) == 0 {
		copied[item] = value
	} else {
		set(copied[item].(map[string]any), path, value)
	}
	return copied
}

func (e *edit) patch(value any) map[string]any {
	if len(e.path) == 0 {
		return value.(map[string]any)
	}
	patch := map[string]any{}
	set(patch, e.path, value)
	return patch
}

func (e *edit) set(object map[string]any, value any) {
	switch {
	case len(e.path) > 0 && value == nil:
		unstructured.RemoveNestedField(object, e.path...)
		return
	case len(e.path) > 0:
		set(object, e.path, value)
		return
	}
	join(object, value.(map[string]any), false)
}

// join applies a merge patch to an object. With nulls, object is a merge patch too: a null is copied, and removes
// nothing.
func join(object, patch map[string]any, nulls bool) {
	for key, value := range patch { //detcheck:ordered the keys are independent
		if below, is := value.(map[string]any); is {
			there, both := object[key].(map[string]any)
			if !both {
				there = map[string]any{}
				object[key] = there
			}
			join(there, below, nulls)
			continue
		}
		if object[key] = runtime.DeepCopyJSONValue(value); value == nil && !nulls {
			delete(object, key)
		}
	}
}

// removes reports whether the edit removes a field or an item of a list.
func (e *edit) removes() bool { return len(e.path) > 0 && e.is == nil }

func (e *edit) paths() (paths [][]string) {
	if len(e.path) > 0 {
		return [][]string{e.path}
	}
	var walk func(patch map[string]any, path []string)
	walk = func(patch map[string]any, path []string) {
		for _, key := range slices.Sorted(maps.Keys(patch)) {
			at := append(slices.Clone(path), key)
			if below, is := patch[key].(map[string]any); is {
				walk(below, at)
			} else {
				paths = append(paths, at)
			}
		}
	}
	walk(e.to.(map[string]any), nil)
	return paths
}

func set(object map[string]any, path []string, value any) {
	if err := unstructured.SetNestedField(object, value, path...); err != nil {
		panic("check: " + err.Error())
	}
}

// number returns the value at e.path that sets the edited field to n: n itself, or a copy of the list with n in it.
func (e *edit) number(n int64) any {
	list, in := e.from.([]any)
	if !in {
		return n
	}
	copied := runtime.DeepCopyJSONValue(list).([]any)
	for i, item := range copied {
		for _, o := range leaves(item, nil, nil, "") {
			if fmt.Sprintf("%s[%d]%s", strings.Join(e.path, "."), i, o.name) == e.name {
				return within(list, i, o.path[1:], n)
			}
		}
	}
	return copied
}

// String formats the edit in one line: "spec.replicas: 2 -> 3, with 3 dependents in place of 2". Long values are
// shortened to the part that differs.
func (e *edit) String() string {
	text := e.text()
	if e.has != e.had {
		text += fmt.Sprintf(", with %d dependents in place of %d", e.has, e.had)
	}
	return text
}

// text formats the edit without its result: "spec.replicas: 2 -> 3".
func (e *edit) text() string {
	if len(e.path) == 0 {
		return e.name
	}
	was, is := objectdiff.Shorten(quoted(e.was), quoted(e.is))
	return fmt.Sprintf("%s: %s -> %s", e.name, was, is)
}

// quoted is brief, but quotes text of several lines.
func quoted(v any) string {
	text := brief(v)
	if strings.Contains(text, "\n") {
		return strconv.Quote(text)
	}
	return text
}
