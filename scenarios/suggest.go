package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/nearest"
)

// Nearest returns the valid word closest to what was typed, "" when none is
// near enough to be what was meant.
func Nearest(word string, valid []string) string { return nearest.Word(word, valid) }

// suggest renders the nearest valid word as the end of an error message; where
// nothing is near, it lists the valid words, if they are few.
func suggest(word string, valid []string) string {
	if n := Nearest(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	if len(valid) == 0 || len(valid) > 24 {
		return ""
	}
	sorted := slices.Clone(valid)
	slices.Sort(sorted)
	return "; there are " + strings.Join(sorted, ", ")
}
