package watch

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/threelaws/threelaws/internal/render"
)

// Page tells a finding, in so many columns.
func (f *Finding) Page(width int) string {
	var b strings.Builder
	head := "--- " + string(f.Sort) + ": " + f.Object
	if f.Goes {
		head = "--- " + string(f.Sort) + " goes on: " + f.Object
	}
	if f.Sort != Fight && len(f.Who) > 0 {
		head += ", by " + strings.Join(f.Who, " and ")
	}
	b.WriteString(Plain(head) + "\n")
	text := render.Table{Indent: "    ", Width: width}
	text.Add(Plain(f.Text))
	b.WriteString(text.String())
	if f.Goes || len(f.Story) == 0 {
		return b.String()
	}
	if f.Sort == Fight {
		b.WriteString("\n    one round:\n")
	} else {
		b.WriteString("\n")
	}
	story := render.Table{Indent: "    ", Width: width}
	for _, l := range f.Story {
		cells := []string{l.At.UTC().Format("15:04:05.000"), Plain(l.Who), l.Did}
		if l.Change != "" {
			cells = append(cells, Plain(l.Change))
		}
		story.Add(cells...)
	}
	b.WriteString(story.String() + "\n")
	return b.String()
}

// Plain is a text of a cluster's, or of its server's, in which what a terminal would obey
// or not show, line breaks among it, stands as Go writes it: \n, \x1b, \u202e.
func Plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.IndexFunc(s, odd) < 0 {
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
