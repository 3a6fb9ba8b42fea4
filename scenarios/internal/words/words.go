// Package words splits a line into words, and quotes words that contain spaces.
package words

import "strings"

// Word is a word of a line, without its quotes.
type Word struct {
	Text   string
	Quoted bool // the word begins with a quote, so it is never key=value
}

// Split splits a line into words at spaces that are not in quotes. In double quotes, a backslash escapes the next
// character. In single quotes, no character is special. The string is the text of an error, or "".
func Split(line string) ([]Word, string) {
	var words []Word
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		w := Word{Quoted: line[i] == '\'' || line[i] == '"'}
		var b strings.Builder
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			c := line[i]
			if c != '\'' && c != '"' {
				b.WriteByte(c)
				i++
				continue
			}
			n, ok := unquote(&b, line[i:])
			if !ok {
				return nil, "a quote is not closed: " + line[i:]
			}
			i += n
		}
		w.Text = b.String()
		words = append(words, w)
	}
	return words, ""
}

// unquote writes the text in quotes at the start of s to b, and returns its length with the quotes. It returns false if
// the quote is not closed.
func unquote(b *strings.Builder, s string) (int, bool) {
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == q:
			return i + 1, true
		case s[i] == '\\' && q == '"' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return 0, false
}

// Quote quotes a word, so that [Split] returns the word unchanged.
func Quote(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t'\"") {
		return text
	}
	if !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
