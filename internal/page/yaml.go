package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// yamlOf is a version as lines of YAML. What tells who manages which field is left
// out: it is longer than the rest and changes with every write.
func yamlOf(version any) []string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(version)
	if err != nil { // no object of a Go type: its JSON says what it is
		if content, err = decoded(version); err != nil {
			return []string{fmt.Sprintf("# %v", err)}
		}
	}
	if meta, ok := content["metadata"].(map[string]any); ok && meta["managedFields"] != nil {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		content = maps.Clone(content)
		content["metadata"] = meta
	}
	w := &yamlWriter{}
	w.fields(content, "", order)
	return w.lines
}

func decoded(version any) (map[string]any, error) {
	text, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if json.Unmarshal(text, &content) != nil {
		content = map[string]any{"value": json.RawMessage(text)}
	}
	return content, nil
}

// order is that of kubectl's readers: what it is, then what is said of it.
var order = []string{"apiVersion", "kind", "metadata", "spec"}

// yamlWriter writes values of JSON as YAML in blocks.
type yamlWriter struct{ lines []string }

// fields writes a map, the keys of first before all others.
func (w *yamlWriter) fields(m map[string]any, indent string, first []string) {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return compareKeys(a, b, first)
	})
	for _, k := range keys {
		w.field(indent+scalar(k)+":", m[k], indent)
	}
}

func compareKeys(a, b string, first []string) int {
	x, y := slices.Index(first, a), slices.Index(first, b)
	switch {
	case x >= 0 && y >= 0:
		return x - y
	case x >= 0:
		return -1
	case y >= 0:
		return 1
	}
	return strings.Compare(a, b)
}

// field writes a value behind its key, or beneath it.
func (w *yamlWriter) field(key string, value any, indent string) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			w.lines = append(w.lines, key+" {}")
			return
		}
		w.lines = append(w.lines, key)
		w.fields(v, indent+"  ", nil)
	case []any:
		if len(v) == 0 {
			w.lines = append(w.lines, key+" []")
			return
		}
		w.lines = append(w.lines, key)
		for _, item := range v {
			w.item(item, indent)
		}
	default:
		w.lines = append(w.lines, key+" "+scalar(v))
	}
}

// item writes an element of a list, the first line of it behind the dash.
func (w *yamlWriter) item(value any, indent string) {
	at := len(w.lines)
	switch v := value.(type) {
	case map[string]any:
		w.fields(v, indent+"  ", nil)
	case []any:
		for _, inner := range v {
			w.item(inner, indent+"  ")
		}
	}
	if len(w.lines) == at { // a scalar, or nothing in it
		w.field(indent+"-", value, indent)
		return
	}
	w.lines[at] = indent + "- " + w.lines[at][len(indent)+2:]
}

// plain is a text that YAML reads as itself without quotes, and as nothing else.
var plain = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./@-]*$`)

// notText are plain words that YAML reads as something else.
var notText = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// scalar writes a value in one line: JSON is YAML.
func scalar(value any) string {
	if s, ok := value.(string); ok && plain.MatchString(s) && !slices.Contains(notText, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(value))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
