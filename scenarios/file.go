package scenarios

import (
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/golden"
)

// MaxSize is the maximum size of a file, in bytes.
const MaxSize = 8 << 20

// None, "(none)", stands for an empty output.
const None = golden.None

// File is a parsed scenario file.
type File struct {
	Name  string
	Steps []*Step

	sections []*section
	src      string
	verbs    []*Verb         // the table it was read with
	server   *fakeapi.Server // with all kinds that the file defines; set by Check
	base     *base           // with what the file installs, or nil; set by Check
	quiet    *quietEnds      // the settled worlds of quiet runs of its steps
}

// Step is one line of the script with its expected output.
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
	Text  string // as typed, without quotes
	Key   string // of key=value and --flag[=value]; "" for a bare word
	Value string // the bare word, or what follows "="; "true" for a --flag without value
	Flag  bool   // typed with "--"
}

// Format formats the file. It takes golden texts from the steps; the rest is unchanged, byte for byte.
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

// lineEnd returns the line end of the file's first line; added lines use it too.
func (f *File) lineEnd() string {
	if i := strings.IndexByte(f.src, '\n'); i > 0 && f.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
