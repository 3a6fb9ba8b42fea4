package scenarios

import (
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/scenarios/internal/words"
	"github.com/threelaws/threelaws/sim/law"
)

// String formats the step's line: the verb and its arguments.
func (s *Step) String() string {
	var b strings.Builder
	if s.Expect {
		b.WriteString("! ")
	}
	b.WriteString(s.Verb)
	for _, a := range s.Args {
		b.WriteString(" " + words.Quote(a.Text))
	}
	return b.String()
}

// Param returns the value of key=value or --key=value, and whether the step has it; the last one counts.
func (s *Step) Param(key string) (string, bool) {
	for i := len(s.Args) - 1; i >= 0; i-- {
		if s.Args[i].Key == key {
			return s.Args[i].Value, true
		}
	}
	return "", false
}

// Words lists the arguments that are not parameters of the verb: bare words, and for some verbs also key=value.
func (s *Step) Words() []string {
	var all []string
	for _, a := range s.Args {
		if a.Key == "" || s.verb.Raw && !a.Flag {
			all = append(all, a.Text)
		}
	}
	return all
}

// Word returns the i-th of [Step.Words], or "".
func (s *Step) Word(i int) string {
	if w := s.Words(); i < len(w) {
		return w[i]
	}
	return ""
}

// Has reports whether the arguments contain a bare word.
func (s *Step) Has(word string) bool {
	for _, a := range s.Args {
		if a.Key == "" && a.Text == word {
			return true
		}
	}
	return false
}

// number reads an integer parameter; fallback if it is absent.
func (s *Step) number(key string, fallback int) (int, error) {
	v, ok := s.Param(key)
	if !ok {
		return fallback, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, s.wrong("%s=%s is not a number: write one from 0", key, v)
	}
	return n, nil
}

// flag reports whether a parameter is "true".
func (s *Step) flag(name string) bool {
	v, _ := s.Param(name)
	return v == "true"
}

// duration reads a duration parameter; zero if it is absent.
func (s *Step) duration(key string) (time.Duration, error) {
	v, ok := s.Param(key)
	if !ok {
		return 0, nil
	}
	return s.parseDuration(v)
}

func (s *Step) parseDuration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < 0 {
		return 0, s.wrong("%s is not a duration: write 5ms, 30s or 2m", v)
	}
	return d, nil
}

// wrong returns a mistake in a step.
func (s *Step) wrong(format string, args ...any) *Error {
	return wrong(s.file.Name, s.Line, s.Verb, format, args...)
}

// fail returns the error of a well-formed step with an unexpected result.
func (s *Step) fail(code int, format string, args ...any) *Error {
	e := s.wrong(format, args...)
	e.Code = code
	return e
}

// missed returns the error of a step whose "!" expects a failure that did not happen.
func (s *Step) missed(why string) *Error {
	e := s.fail(ExitFail, "expected to fail (!), but %s", why)
	e.bang = true
	return e
}

// comparesEnds reports whether the step compares the settled world with those of quiet runs.
func (s *Step) comparesEnds() bool { return s != nil && s.Verb == "ensure" && s.Word(0) == SameEnd }

// lawOf returns the law that a step requires, or nil for an ordinary expectation.
func (s *Step) lawOf() *law.Law {
	if s.comparesEnds() {
		return law.ByID(law.SameEnd)
	}
	return nil
}
