package scenarios

import (
	"slices"
	"strings"
)

// Nearest returns the valid word closest to what was typed, "" when none is
// near enough to be what was meant.
func Nearest(word string, valid []string) string {
	best, distance := "", len(word)/3+2
	low := strings.ToLower(word)
	for _, v := range valid {
		if d := levenshtein(low, strings.ToLower(v)); d < distance {
			best, distance = v, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, v := range valid {
		if strings.HasPrefix(strings.ToLower(v), low) {
			return v
		}
	}
	return ""
}

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

// levenshtein is the number of insertions, deletions and replacements between
// two words, in bytes.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
