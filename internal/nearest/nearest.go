// Package nearest finds the valid word that a user probably meant by a mistyped word.
package nearest

import "strings"

// most is the maximal number of wrong letters, however long the word is.
const most = 3

// Word returns the valid word that is nearest to the typed word, or "". A third of the typed letters, rounded up, may
// be wrong, but at most three. If no valid word is so near, Word takes a typed word of at least three letters as an
// abbreviation. Then it returns the first valid word that begins with the typed word, or that contains the typed
// letters in the same order and is less than twice as long.
func Word(word string, valid []string) string {
	best, distance := "", min((len(word)+2)/3, most)+1
	low := strings.ToLower(word)
	for _, v := range valid {
		if len(low)-len(v) > most {
			continue // v is too short
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

// within reports whether the letters of a occur in b in the same order.
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

// edits returns the edit distance of two words. Edits insert, delete or replace a byte, or swap two adjacent bytes.
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
