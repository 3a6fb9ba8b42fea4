package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/golden"
)

// MaxSize is the size above which a file is refused, in bytes.
const MaxSize = 8 << 20

// None, "(none)", stands for the output of a step that prints nothing.
const None = golden.None

// File is a parsed scenario file.
type File struct {
	Name  string
	Steps []*Step

	sections []*section
	src      string
	verbs    []*Verb         // the table it was read with
	server   *fakeapi.Server // with all kinds that the file defines; set by Check
	base     *base           // with what the file installs, nil where it installs nothing; set by Check
	quiet    *quietEnds      // how quiet runs of its steps end
}

// Step is one line of the script with the output expected of it.
type Step struct {
	Line      int    // from 1
	Phase     string // the first sentence of the comment above the phase, "" when there is none
	Expect    bool   // "!": expected to break a law, not to settle, or to be refused
	Verb      string
	Args      []Arg
	HasGolden bool   // "----" stands beneath it
	Golden    string // the lines beneath "----", each ended by a newline

	file     *File
	verb     *Verb
	from, to int // the golden text in src
}

// Arg is one argument of a step.
type Arg struct {
	Text  string // as typed, quotes removed
	Key   string // of key=value and --flag[=value]; "" for a bare word
	Value string // the bare word, or what follows "="; "true" for a --flag without value
	Flag  bool   // typed with "--"
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
