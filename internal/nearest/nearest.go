// Package nearest finds the valid word that a user probably meant by a mistyped word.
package nearest

import "strings"

// most is the maximal number of wrong letters for words of any length.
const most = 3

// Word returns the valid word that is nearest to the typed word, or "". A third of the letters may be wrong, rounded
// up, but at most three. If there is no such word, a typed word of at least three letters may be an abbreviation. Then
// Word returns the first valid word that begins with it. It also accepts a valid word that contains its letters in the
// same order and has fewer than twice as many letters.
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
