package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain escapes control characters, line breaks and invisible characters as Go does: \n, \x1b, \u202e. Use it for text
// from a cluster, a server or a log.
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
