package fight

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/threelaws/threelaws/internal/difference"
)

// OnlyTimes reports whether two versions of an object differ in nothing but
// times of day: what a heartbeat writes. Either may be of any kind.
func OnlyTimes(a, b any) bool {
	return !slices.ContainsFunc(differences(a, b), func(l difference.Leaf) bool {
		return !isTime(difference.JSON(l.Was)) || !isTime(difference.JSON(l.Is))
	})
}

// FirstDifference names the first field in which two versions of an object
// differ, as a JSON path, with both values; "" where they do not. What the server
// moves by itself does not count.
func FirstDifference(a, b any) (path, was, is string) {
	leaves := differences(a, b)
	if len(leaves) == 0 {
		return "", "", ""
	}
	return leaves[0].Path, difference.JSON(leaves[0].Was), difference.JSON(leaves[0].Is)
}

// moved are the metadata that the server moves by itself.
var moved = []string{"metadata.resourceVersion", "metadata.generation", "metadata.managedFields"}

// differences are where two objects differ, what the server moves left out.
func differences(a, b any) []difference.Leaf {
	return slices.DeleteFunc(difference.Of(content(a), content(b)), func(l difference.Leaf) bool {
		return slices.ContainsFunc(moved,
			func(m string) bool { return l.Path == m || strings.HasPrefix(l.Path, m+"[") })
	})
}

// content is the object itself of one that wraps a map.
func content(object any) any {
	if u, ok := object.(interface{ UnstructuredContent() map[string]any }); ok {
		return u.UnstructuredContent()
	}
	return object
}

// isTime reports whether a value's JSON is a time of day.
func isTime(value string) bool {
	var s string
	if json.Unmarshal([]byte(value), &s) != nil {
		return false
	}
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}
