package scenarios

import (
	"strings"
)

// word is one word of a line, quotes removed.
type word struct {
	text   string
	quoted bool // begins with a quote: never key=value
}

// split cuts a line into words at spaces outside of quotes. Within " a
// backslash keeps the next character; within ' nothing is special. The string
// returned says what is wrong, "" when nothing is.
func split(line string) ([]word, string) {
	var words []word
	for i := 0; i < len(line); {
		if line[i] == ' ' || line[i] == '\t' {
			i++
			continue
		}
		w := word{quoted: line[i] == '\'' || line[i] == '"'}
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
		w.text = b.String()
		words = append(words, w)
	}
	return words, ""
}

// unquote writes the quoted text at the start of s and returns its length,
// quotes included.
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

// quote is the inverse of [split] for one word.
func quote(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t'\"") {
		return text
	}
	if !strings.Contains(text, "'") {
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// arg tells parameters from bare words.
func (w word) arg() Arg {
	a := Arg{Text: w.text, Value: w.text}
	if w.quoted {
		return a
	}
	text, flag := strings.CutPrefix(w.text, "--")
	key, value, ok := strings.Cut(text, "=")
	switch {
	case flag && text != "":
		a.Flag, a.Key, a.Value = true, key, value
		if !ok {
			a.Value = "true"
		}
	case ok && isName(key):
		a.Key, a.Value = key, value
	}
	return a
}

// isName reports whether a key=value argument may have this key: letters,
// digits and the characters of label keys.
func isName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r) {
			return false
		}
	}
	return s != ""
}

// checkShape holds the arguments against what the verb declares.
func (s *Step) checkShape(v *Verb) error {
	words := 0
	for _, a := range s.Args {
		if a.Key == "" || v.Raw && !a.Flag {
			words++
			continue
		}
		if v.param(a.Key) == nil {
			what := a.Key + "="
			if a.Flag {
				what = "--" + a.Key
			}
			return s.wrong("unknown flag %s%s", what, suggest(a.Key, v.paramNames()))
		}
	}
	switch {
	case words < v.Min:
		return s.wrong("too few arguments: expected %s %s", v.Name, v.Args)
	case v.Max >= 0 && words > v.Max:
		return s.wrong("too many arguments: expected %s %s", v.Name, v.Args)
	}
	return nil
}
