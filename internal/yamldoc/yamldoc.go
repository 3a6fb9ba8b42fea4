// Package yamldoc splits a YAML text into its documents and returns where each begins, so that errors can name the
// line.
package yamldoc

import "bytes"

// Document is one document of a text. It may be empty, or contain only comments.
type Document struct {
	Line int // number of its first line, from 1
	Text []byte
}

// Split splits a text where YAML does: at lines that begin with "---" and end there or continue with a space. The rest
// of such a line belongs to the document that it begins.
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

// marker reports whether a line begins a document, and returns the rest of the line.
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
