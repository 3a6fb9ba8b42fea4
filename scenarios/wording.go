package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/nearest"
)

// suggest returns the end of an error message: the nearest valid word, or all valid words if none is near and they are
// few.
func suggest(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	if len(valid) == 0 || len(valid) > 24 {
		return ""
	}
	sorted := slices.Clone(valid)
	slices.Sort(sorted)
	return "; there are " + strings.Join(sorted, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
