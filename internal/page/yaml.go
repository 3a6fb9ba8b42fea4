package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
)

// yamlOf formats a version as lines of YAML. It leaves out managedFields, which are long and change with every write.
func yamlOf(version any) []string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(version)
	if err != nil { // not an object of a Go type: use its JSON
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
	var b strings.Builder
	for _, k := range slices.SortedFunc(maps.Keys(content), compareKeys) {
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		e.CompactSeqIndent()
		if err := e.Encode(map[string]any{k: content[k]}); err != nil {
			return []string{fmt.Sprintf("# %v", err)}
		}
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func decoded(version any) (map[string]any, error) {
	text, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if content, ok := value.(map[string]any); ok {
		return content, nil
	}
	return map[string]any{"value": value}, nil
}

// compareKeys orders keys as kubectl does: kind and metadata first.
func compareKeys(a, b string) int {
	place := func(k string) int {
		return slices.Index([]string{"spec", "metadata", "kind", "apiVersion"}, k)
	}
	return cmp.Or(cmp.Compare(place(b), place(a)), cmp.Compare(a, b))
}
