// Package yamldoc cuts a YAML text into its documents and says where each
// begins, so that a mistake in one can be found in the file.
package yamldoc

import "bytes"

// Document is one document of a text. It may be empty, or hold comments alone.
type Document struct {
	Line int // of its first line, from 1
	Text []byte
}

// Split cuts a text where YAML does: at lines that begin with "---" and end
// there or go on with a space. What such a line holds besides is of the
// document that it begins.
func Split(text []byte) []Document {
	var all []Document
	next := Document{Line: 1}
	line := 0
	for part := range bytes.Lines(text) {
		line++
		rest, begins := marker(part)
		if !begins {
			next.Text = append(next.Text, part...)
			continue
		}
		all = append(all, next)
		if next = (Document{Line: line + 1}); len(rest) > 0 {
			next = Document{Line: line, Text: append(rest, '\n')}
		}
	}
	return append(all, next)
}

// marker says whether a line begins a document, and what else it holds.
func marker(line []byte) (rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(line, []byte("---"))
	if !ok || len(rest) > 0 && !bytes.ContainsAny(rest[:1], " \t\r\n") {
		return nil, false
	}
	rest = bytes.TrimSpace(rest)
	if bytes.HasPrefix(rest, []byte("#")) {
		rest = nil
	}
	return bytes.Clone(rest), true
}
