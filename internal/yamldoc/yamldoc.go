// Package yamldoc cuts a YAML file into its documents without reading them, so
// that one can be left out, kept as it is written, or named by its line.
package yamldoc

import "strings"

// Document is the text of one document, without the line that separates it from
// the one before. It may be empty, or hold nothing but comments.
type Document struct {
	Line int // of its first line, from 1
	Text string
}

// Split cuts text at the lines that kubectl takes for the end of a document:
// three dashes with nothing but a comment behind them. What is before the first
// of them is a document too, also where it is empty.
func Split(text string) []Document {
	all := []Document{{Line: 1}}
	at, from, line := 0, 0, 0
	for l := range strings.Lines(text) {
		line++
		at += len(l)
		if separates(l) {
			all = append(all, Document{Line: line + 1})
			from = at
		}
		all[len(all)-1].Text = text[from:at]
	}
	return all
}

func separates(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	if !ok {
		return false
	}
	comment := strings.TrimSpace(rest)
	return comment == "" || rest[0] != '#' && comment[0] == '#'
}
