package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/threelaws/threelaws/fakeapi"
)

// step is one step of a column's path: a key, an index, all, or the elements
// of which a field has a value.
type step struct {
	key   string
	index int
	all   bool
	where string
	value any
}

// parseColumn reads the JSON paths that columns are made of: .key, ['key'],
// [n], [*] and [?(@.key=="value")]. ok is false for anything else; the real
// server then shows names alone.
func parseColumn(path string) (steps []step, ok bool) {
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			if end > 0 {
				steps = append(steps, step{key: strings.ReplaceAll(path[:end], `\`, ""), index: -1})
			}
			path = path[end:]
		case path[0] == '[':
			inside, rest, closed := strings.Cut(path[1:], "]")
			s, known := parseBracket(inside)
			if !closed || !known {
				return nil, false
			}
			steps, path = append(steps, s), rest
		default:
			return nil, false
		}
	}
	return steps, true
}

func parseBracket(text string) (step, bool) {
	if text == "*" {
		return step{all: true, index: -1}, true
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return step{index: n}, true
	}
	if len(text) > 2 && text[0] == '\'' && text[len(text)-1] == '\'' {
		return step{key: text[1 : len(text)-1], index: -1}, true
	}
	text, filter := strings.CutPrefix(text, "?(@.")
	text, closed := strings.CutSuffix(text, ")")
	key, value, equal := strings.Cut(text, "==")
	if !filter || !closed || !equal {
		return step{}, false
	}
	value = strings.TrimSpace(value)
	if len(value) > 1 && (value[0] == '\'' || value[0] == '"') && value[len(value)-1] == value[0] {
		return step{where: strings.TrimSpace(key), value: value[1 : len(value)-1], index: -1}, true
	}
	var literal any
	if json.Unmarshal([]byte(value), &literal) != nil {
		return step{}, false
	}
	return step{where: strings.TrimSpace(key), value: literal, index: -1}, true
}

// find returns the first value that the steps lead to.
func find(value any, steps []step) (any, bool) {
	if len(steps) == 0 {
		return value, true
	}
	s := steps[0]
	switch v := value.(type) {
	case map[string]any:
		if s.key != "" {
			child, ok := v[s.key]
			if !ok {
				return nil, false
			}
			return find(child, steps[1:])
		}
	case []any:
		if s.index >= 0 && s.index < len(v) {
			return find(v[s.index], steps[1:])
		}
		for _, item := range v {
			m, _ := item.(map[string]any)
			if !s.all && (s.where == "" || fmt.Sprint(m[s.where]) != fmt.Sprint(s.value)) {
				continue
			}
			if found, ok := find(item, steps[1:]); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// customCell is one cell of a custom kind's row.
func customCell(value any, kind string, now time.Time) any {
	switch kind {
	case "integer":
		switch n := value.(type) {
		case int64:
			return n
		case float64:
			return int64(n)
		}
	case "number":
		switch n := value.(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		}
	case "boolean":
		if yes, ok := value.(bool); ok {
			return yes
		}
	case "string":
		return cellText(value)
	case "date":
		if text, ok := value.(string); ok {
			var at metav1.Time
			if err := at.UnmarshalQueryParameter(text); err != nil {
				return "<invalid>"
			}
			return since(at, now)
		}
	}
	return nil
}

// cellText is any value as a column of strings shows it.
func cellText(value any) any {
	switch v := value.(type) {
	case nil:
		return "<nil>"
	case map[string]any, []any:
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			return nil
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return fmt.Sprint(value)
}

// customPrinter shows the columns that a definition asks for.
func customPrinter(k *fakeapi.Kind) *printer {
	_, v := k.Definition()
	columns := v.AdditionalPrinterColumns
	if len(columns) == 0 {
		columns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp", Description: metaDocs["creationTimestamp"]}}
	}
	p := &printer{columns: []metav1.TableColumnDefinition{nameColumn}}
	var paths [][]step
	for _, c := range columns {
		path, ok := parseColumn(c.JSONPath)
		if !ok {
			break
		}
		description := c.Description
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		paths = append(paths, path)
		p.columns = append(p.columns, metav1.TableColumnDefinition{Name: c.Name, Type: c.Type, Format: c.Format, Description: description, Priority: c.Priority})
	}
	p.cells = func(obj runtime.Object, now time.Time) []any {
		cells := []any{accessor(obj).GetName()}
		for i, path := range paths {
			value, ok := find(obj.(runtime.Unstructured).UnstructuredContent(), path)
			if !ok {
				cells = append(cells, nil)
				continue
			}
			cells = append(cells, customCell(value, columns[i].Type, now))
		}
		return cells
	}
	return p
}

// deprecation warns of a version of a kind that is on its way out.
func deprecation(k *fakeapi.Kind) []string {
	d, v := k.Definition()
	switch {
	case k.Deprecation() != "":
		return []string{k.Deprecation()}
	case d == nil || !v.Deprecated:
		return nil
	case v.DeprecationWarning != nil:
		return []string{*v.DeprecationWarning}
	}
	var better []string
	for _, other := range d.Spec.Versions {
		if other.Served && !other.Deprecated && version.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0 {
			better = append(better, other.Name)
		}
	}
	slices.SortFunc(better, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	text := fmt.Sprintf("%s/%s %s is deprecated", d.Spec.Group, v.Name, d.Spec.Names.Kind)
	if len(better) > 0 {
		text += fmt.Sprintf("; use %s/%s %s", d.Spec.Group, better[0], d.Spec.Names.Kind)
	}
	return []string{text}
}

// errCustomPath answers a path that names a custom kind but does not fit it;
// nil when it does.
func errCustomPath(r *http.Request, t target, f format) *answer {
	switch {
	case t.kind == nil || !isCustom(t.kind):
		return nil
	case !reachable(r, t):
		return notFoundText()
	case !t.kind.Serves(t.subresource):
		return fail(f, errCustomSubresource(t.kind, t.name))
	}
	return nil
}
