package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain is a text of a cluster's, of its server's or of a log's, in which what a terminal would
// obey or not show, line breaks among it, stands as Go writes it: \n, \x1b, \u202e.
func Plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.IndexFunc(s, odd) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if odd(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
