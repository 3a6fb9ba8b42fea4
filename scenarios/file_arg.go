package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/scenarios/internal/words"
)

// items splits a word at commas if the verb takes lists.
func (v *Verb) items(w words.Word) []string {
	if !v.Listed || w.Quoted {
		return []string{w.Text}
	}
	return strings.FieldsFunc(w.Text, func(r rune) bool { return r == ',' })
}

// arg separates parameters from bare words.
func arg(w words.Word) Arg {
	a := Arg{Text: w.Text, Value: w.Text}
	if w.Quoted {
		return a
	}
	text, flag := strings.CutPrefix(w.Text, "--")
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

// isName reports whether s can be the key of a key=value argument: letters, digits and the characters of label keys.
func isName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r) {
			return false
		}
	}
	return s != ""
}

// checkShape compares the arguments with the verb's declaration.
func (s *Step) checkShape() error {
	v, words := s.verb, 0
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

// checkValues compares parameters with their valid words.
func (s *Step) checkValues() error {
	for _, a := range s.Args {
		p := s.verb.param(a.Key)
		if a.Key == "" || p == nil || len(p.Values) == 0 || slices.Contains(p.Values, a.Value) {
			continue
		}
		return s.wrong("%s: %s is not one of its values%s", a.Key, a.Value, suggest(a.Value, p.Values))
	}
	return nil
}
