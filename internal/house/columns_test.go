package house

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is how wide a line of code or of a page may be; a tab counts four.
const mostColumns = 120

// No line is wider than a reader's window. Rows of tables in pages cannot be broken,
// and what a program prints, on a page or in a test's text, is as wide as it is.
func TestLinesFit(t *testing.T) {
	for _, f := range files(t) {
		if ext := path.Ext(f); ext != ".go" && ext != ".md" && f != "Makefile" || strings.Contains(f, "testdata/") {
			continue
		}
		inText, test := false, strings.HasSuffix(f, "_test.go")
		for i, line := range strings.Split(read(t, f), "\n") {
			held := inText
			if path.Ext(f) == ".go" && strings.Count(line, "`")%2 == 1 || strings.HasPrefix(line, "```") {
				inText = !inText
			}
			if n := columns(line); n > mostColumns && !held &&
				!(test && columns(literal.ReplaceAllString(line, "")) < n/2) &&
				!(path.Ext(f) == ".md" && strings.HasPrefix(line, "|")) {
				t.Errorf("%s:%d: %d columns, more than %d; break the line", f, i+1, n, mostColumns)
			}
		}
	}
}

// literal is a text that a line holds whole.
var literal = regexp.MustCompile("`[^`]*`")

func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}
