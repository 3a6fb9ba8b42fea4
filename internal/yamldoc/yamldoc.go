// Package yamldoc splits a YAML text into documents, and returns the line at which each begins, for error messages.
package yamldoc

import "bytes"

// Document is a document in a YAML text. It may be empty, or contain only comments.
type Document struct {
	Line int // the number of its first line, counted from 1
	Text []byte
}

// Split splits a text as YAML does: at lines that are "---", or begin with "---" and a space. The text after the space
// belongs to the new document.
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

// marker reports whether a line begins a document. It returns the text after the marker.
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
