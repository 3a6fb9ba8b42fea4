package scenarios

import "strings"

// MaxSize is the size above which a file is refused, in bytes.
const MaxSize = 1 << 20

// None stands for the output of a step that prints nothing.
const None = "(none)"

// File is a parsed scenario file.
type File struct {
	Name     string
	Steps    []*Step
	Sections []*Section

	src string
}

// Step is one line of the script with the output expected of it.
type Step struct {
	Line      int    // from 1
	Phase     string // the first line of the comment above the phase, "" when there is none
	Expect    bool   // "!": expected to break a law, not to settle, or to be refused
	Verb      string
	Args      []Arg
	HasGolden bool   // "----" stands beneath it
	Golden    string // the lines beneath "----", each ended by a newline

	file     *File
	from, to int // the golden text in src
}

// Arg is one argument of a step.
type Arg struct {
	Text  string // as typed, quotes removed
	Key   string // of key=value and --flag[=value]; "" for a bare word
	Value string // the bare word, or what follows "="; "true" for a --flag without value
	Flag  bool   // typed with "--"
}

// Section is one file of the archive.
type Section struct {
	Name string
	Line int // of its marker, from 1; the body starts on the next
	Body string

	read bool        // a step reads it
	docs []*Manifest // decoded; shared by all runs, which only read them

	entries []int // of a schedule: the line of each entry
}

// Section finds a section by name, nil when there is none.
func (f *File) Section(name string) *Section {
	for _, s := range f.Sections {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// SectionNames lists the sections in the order of the file.
func (f *File) SectionNames() []string {
	names := make([]string, len(f.Sections))
	for i, s := range f.Sections {
		names[i] = s.Name
	}
	return names
}

// Format renders the file. Golden texts are taken from the steps; everything
// else is as it was read, byte for byte.
func (f *File) Format() []byte {
	var b strings.Builder
	b.Grow(len(f.src))
	at := 0
	for _, s := range f.Steps {
		if !s.HasGolden || s.Golden == f.src[s.from:s.to] {
			continue
		}
		b.WriteString(f.src[at:s.from])
		if s.from > 0 && f.src[s.from-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(s.Golden, "\r\n", "\n"), "\n", f.lineEnd()))
		at = s.to
	}
	b.WriteString(f.src[at:])
	return []byte(b.String())
}

// lineEnd is how the file ends its first line, and so all that are added.
func (f *File) lineEnd() string {
	if i := strings.IndexByte(f.src, '\n'); i > 0 && f.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// String renders the step's line as it was meant: the verb and its arguments.
func (s *Step) String() string {
	var b strings.Builder
	if s.Expect {
		b.WriteString("! ")
	}
	b.WriteString(s.Verb)
	for _, a := range s.Args {
		b.WriteString(" " + quote(a.Text))
	}
	return b.String()
}

// Param returns the value of key=value or --key=value, and whether it stands
// in the step; the last one counts.
func (s *Step) Param(key string) (string, bool) {
	for i := len(s.Args) - 1; i >= 0; i-- {
		if s.Args[i].Key == key {
			return s.Args[i].Value, true
		}
	}
	return "", false
}

// Words lists the arguments that are not parameters of the verb: bare words,
// and for verbs that take them raw, also key=value.
func (s *Step) Words() []string {
	raw := false
	if v := FindVerb(s.Verb); v != nil {
		raw = v.Raw
	}
	var words []string
	for _, a := range s.Args {
		if a.Key == "" || raw && !a.Flag {
			words = append(words, a.Text)
		}
	}
	return words
}

// Word returns the i-th of [Step.Words], "" when there are fewer.
func (s *Step) Word(i int) string {
	if w := s.Words(); i < len(w) {
		return w[i]
	}
	return ""
}

// Has reports whether a bare word stands among the arguments.
func (s *Step) Has(word string) bool {
	for _, a := range s.Args {
		if a.Key == "" && a.Text == word {
			return true
		}
	}
	return false
}
