package install

import "slices"

// fits reports whether a value has all required fields of a schema that have no default, and only fields of the schema.
// It does not check metadata and the types of values.
func fits(schema map[string]any, value any) bool {
	switch v := value.(type) {
	case []any:
		items, _ := schema["items"].(map[string]any)
		return items == nil || !slices.ContainsFunc(v, func(item any) bool { return !fits(items, item) })
	case map[string]any:
		fields, _ := schema["properties"].(map[string]any)
		required, _ := schema["required"].([]any)
		for _, name := range required {
			name, _ := name.(string)
			field, _ := fields[name].(map[string]any)
			if _, has := v[name]; !has && field["default"] == nil {
				return false
			}
		}
		for name, is := range v {
			if field, known := fields[name].(map[string]any); known {
				if name != "metadata" && !fits(field, is) {
					return false
				}
			} else if fields != nil && schema["x-kubernetes-preserve-unknown-fields"] != true && name != "metadata" &&
				name != "apiVersion" && name != "kind" {
				return false
			}
		}
	}
	return true
}
