package fight

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// OnlyTimes reports whether two versions of an object differ in nothing but
// times of day: what a heartbeat writes. Either may be of any kind.
func OnlyTimes(a, b any) bool {
	only := true
	differences(a, b, func(_ string, was, is any) bool {
		only = isTime(was) && isTime(is)
		return only
	})
	return only
}

// FirstDifference names the first field in which two versions of an object
// differ, as a JSON path, with both values; "" where they do not. What the server
// moves by itself does not count.
func FirstDifference(a, b any) (path, was, is string) {
	differences(a, b, func(p string, x, y any) bool {
		path, was, is = p, show(x), show(y)
		return false
	})
	return path, was, is
}

func show(v any) string {
	if v == nil {
		return "none"
	}
	data, _ := json.Marshal(v)
	return string(data)
}

// moved are the metadata that the server moves by itself.
var moved = []string{"resourceVersion", "generation", "managedFields"}

// differences walks two objects and calls f for each leaf in which they differ,
// in the order of their paths, until f returns false.
func differences(a, b any, f func(path string, was, is any) bool) {
	x, y := tree(a), tree(b)
	for _, t := range []map[string]any{x, y} {
		if m, ok := t["metadata"].(map[string]any); ok {
			for _, k := range moved {
				delete(m, k)
			}
		}
	}
	walk("", x, y, f)
}

// tree is an object as JSON has it.
func tree(object any) map[string]any {
	data, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("fight: a stored object does not encode: %v", err))
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		panic(fmt.Sprintf("fight: a stored object is no JSON object: %v", err))
	}
	return out
}

func walk(path string, a, b any, f func(string, any, any) bool) bool {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return walkMap(path, x, y, f)
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				if !walk(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], f) {
					return false
				}
			}
			return true
		}
	default:
		if a == b {
			return true
		}
	}
	return f(path, a, b)
}

func walkMap(path string, x, y map[string]any, f func(string, any, any) bool) bool {
	keys := maps.Clone(x)
	maps.Copy(keys, y)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		at := k
		if path != "" {
			at = path + "." + k
		}
		if !walk(at, x[k], y[k], f) {
			return false
		}
	}
	return true
}

func isTime(v any) bool {
	s, ok := v.(string)
	if !ok {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
