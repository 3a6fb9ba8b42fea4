package scenarios

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/scenarios/internal/words"
	"github.com/threelaws/threelaws/sim/law"
)

// String formats the step's line: "!" if the step has one, the verb and its arguments.
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

// Param returns the last value of key=value or --key=value, and whether the step has this parameter.
func (s *Step) Param(key string) (string, bool) {
	for i := len(s.Args) - 1; i >= 0; i-- {
		if s.Args[i].Key == key {
			return s.Args[i].Value, true
		}
	}
	return "", false
}

// Words lists the arguments that are not parameters of the verb: bare words, and for some verbs also key=value
// arguments.
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

func (s *Step) flag(name string) bool {
	v, _ := s.Param(name)
	return v == "true"
}

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

func (s *Step) wrong(format string, args ...any) *Error {
	return wrong(s.file.Name, s.Line, s.Verb, format, args...)
}

func (s *Step) fail(code int, format string, args ...any) *Error {
	e := s.wrong(format, args...)
	e.Code = code
	return e
}

// missed returns an error for a step with a "!" that did not fail.
func (s *Step) missed(why string) *Error {
	e := s.fail(ExitFail, "expected to fail (!), but %s", why)
	e.bang = true
	return e
}

// comparesEnds reports whether the step compares the settled world with those of quiet runs.
func (s *Step) comparesEnds() bool { return s != nil && s.Verb == "ensure" && s.Word(0) == sameEnd }

// lawOf returns the law that a step evaluates, or nil for an ordinary expectation.
func (s *Step) lawOf() *law.Law {
	if s.comparesEnds() {
		return law.ByID(law.SameEnd)
	}
	return nil
}

// items splits a word at commas, if the verb takes lists.
func (v *Verb) items(w words.Word) []string {
	if !v.Listed || w.Quoted {
		return []string{w.Text}
	}
	return strings.FieldsFunc(w.Text, func(r rune) bool { return r == ',' })
}

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

// isName reports whether s can be the key in key=value. A key consists of letters, digits, and the special characters
// of label keys.
func isName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./", r) {
			return false
		}
	}
	return s != ""
}

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

// servers are searched in order for the names of kinds. A run searches its own server first, and then a server with all
// kinds of the file. The second server is needed if the CRD of a kind has not been created yet in this run.
type servers []*fakeapi.Server

// kindNamed returns the kind with this kind, resource, singular or short name, such as "deploy", or nil.
func (in servers) kindNamed(name string) *fakeapi.Kind {
	for _, s := range in {
		if k := s.KindNamed(name); k != nil {
			return k
		}
	}
	return nil
}

func kindNamed(in servers, s *Step, name string) (*fakeapi.Kind, error) {
	if k := in.kindNamed(name); k != nil {
		return k, nil
	}
	var names []string
	for _, server := range in {
		for _, k := range server.Kinds() {
			names = append(names, k.GVK.Kind, k.Resource)
		}
	}
	return nil, s.wrong("%s", manifest.UnknownKind(name, s.file.definedBy(name), names))
}

type target struct {
	kind            *fakeapi.Kind
	namespace, name string
}

// existing returns the kind of a target. If CRDs of other groups have the same kind, and only one of them has or had such
// an object, this kind is returned.
func (in servers) existing(t target) *fakeapi.Kind {
	for _, s := range in {
		own := s.Kind(t.kind.GVK)
		if own == nil || s.Existed(own, t.namespace, t.name) {
			continue
		}
		for _, k := range s.Served() {
			_, custom := own.Definition()
			if custom != nil && k.GVK.Kind == own.GVK.Kind && s.Existed(k, t.namespace, t.name) {
				return k
			}
		}
	}
	return t.kind
}

func parseTarget(in servers, s *Step, text string) (target, error) {
	parts := strings.Split(text, "/")
	t := target{namespace: "default"}
	switch len(parts) {
	case 3:
		t.namespace, parts = parts[0], parts[1:]
	case 2:
	default:
		return t, s.wrong("%s is not an object: write KIND/NAME, or NAMESPACE/KIND/NAME", text)
	}
	if parts[1] == "" || t.namespace == "" {
		return t, s.wrong("%s is not an object: write KIND/NAME, or NAMESPACE/KIND/NAME", text)
	}
	k, err := kindNamed(in, s, parts[0])
	if err != nil {
		return t, err
	}
	if t.kind, t.name = k, parts[1]; !strings.Contains(parts[0], ".") {
		k = in.existing(t)
		t.kind = k
	}
	if !k.Namespaced {
		t.namespace = ""
	}
	return t, nil
}

func targetOf(m *manifest.Manifest) target {
	o := m.Meta()
	return target{kind: m.Kind, namespace: o.GetNamespace(), name: o.GetName()}
}
