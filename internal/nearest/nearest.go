// Package nearest finds the word that was meant by one that was mistyped.
package nearest

import "strings"

// most is how many letters of a word may be wrong, however long it is.
const most = 3

// Word returns the valid word closest to what was typed, "" when none is near
// enough to be what was meant: one letter in three may be wrong, three at most.
// Failing that, a word is near that begins with what was typed, or of which
// less than half the letters were left out.
func Word(word string, valid []string) string {
	best, distance := "", min((len(word)+2)/3, most)+1
	low := strings.ToLower(word)
	for _, v := range valid {
		if len(low)-len(v) > most {
			continue // however long it is: what was typed may be anything
		}
		if d := edits(low, strings.ToLower(v)); d < distance {
			best, distance = v, d
		}
	}
	if best != "" || len(word) < 3 {
		return best
	}
	for _, v := range valid {
		if strings.HasPrefix(strings.ToLower(v), low) || 2*len(low) > len(v) && within(low, strings.ToLower(v)) {
			return v
		}
	}
	return ""
}

// within reports whether the letters of a stand in b, in their order.
func within(a, b string) bool {
	for i := range len(a) {
		at := strings.IndexByte(b, a[i])
		if at < 0 {
			return false
		}
		b = b[at+1:]
	}
	return true
}

// edits is the number of insertions, deletions, replacements and exchanges of
// neighbours between two words, in bytes.
func edits(a, b string) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		table[i][0] = i
	}
	for j := range table[0] {
		table[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := table[i-1][j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cost = min(cost, table[i-2][j-2]+1)
			}
			table[i][j] = min(cost, table[i-1][j]+1, table[i][j-1]+1)
		}
	}
	return table[len(a)][len(b)]
}
