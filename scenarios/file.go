package scenarios

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// MaxSize is the maximal size of a file in bytes.
const MaxSize = 8 << 20

// File is a parsed scenario file.
type File struct {
	Name  string
	Steps []*Step

	sections []*section
	src      string
	verbs    []*Verb         // the verbs that the file may use
	server   *fakeapi.Server // a server with all kinds that the file defines; set by Check
	base     *base           // the installed objects; nil if there are none; set by Check
	quiet    *quietEnds      // the settled worlds of quiet runs, for the law same-end
}

// Step is a line of the script, with its expected output.
type Step struct {
	Line      int    // counted from 1
	Phase     string // the first sentence of the comment before the step's phase; "" if there is none
	Expect    bool   // the step has a "!", so it must fail
	Verb      string
	Args      []Arg
	HasGolden bool   // the step has a "----" below it
	Golden    string // the lines below "----", each with its newline

	file     *File
	verb     *Verb
	from, to int // the start and the end of the golden text in File.src, in bytes
}

// Arg is an argument of a step.
type Arg struct {
	Text  string // the argument as in the file, without quotes
	Key   string // the key of key=value and --flag[=value]; "" for a bare word
	Value string // the text after "=", the bare word, or "true" for a --flag without a value
	Flag  bool   // the argument begins with "--"
}

// Format returns the text of the file with the golden texts of its steps. All other text is unchanged.
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

// lineEnd returns the line ending of the file's first line. Added lines have the same line ending.
func (f *File) lineEnd() string {
	if i := strings.IndexByte(f.src, '\n'); i > 0 && f.src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func readFile(path string) ([]byte, error) {
	if st, err := os.Stat(path); err == nil && st.Size() > MaxSize {
		return nil, wrong(path, 0, "", "the file is too large: %d bytes, at most %d are read", st.Size(), MaxSize)
	}
	data, err := os.ReadFile(path)
	var pe *os.PathError
	if errors.As(err, &pe) {
		return nil, wrong(path, 0, "", "cannot be read: %v", pe.Err)
	}
	return data, err
}

// writeFile replaces a file atomically, so that readers see either the old or the new content.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	_, err = f.Write(data)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

type section struct {
	name string
	line int // the line of "-- name --" in the archive, counted from 1; 0 if the section is not in the archive
	body string

	read      bool                 // a step reads the section
	only      bool                 // only the CRDs in the section are used
	installed bool                 // the section's objects exist from the start
	origin    string               // the path of the file from which the section was read; "" if it is in the archive
	docs      []*manifest.Manifest // the decoded manifests, which all runs share

	entries []int // for a schedule: the line of each entry in the archive
}

func (f *File) section(name string) *section {
	for _, s := range f.sections {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (f *File) sectionNames() []string {
	names := make([]string, len(f.sections))
	for i, s := range f.sections {
		names[i] = s.name
	}
	return names
}

func (f *File) exactly(name string) []*section {
	if s := f.section(name); s != nil {
		return []*section{s}
	}
	return nil
}

// under lists the sections at a path: the section with this name, and the sections in the directory with this name.
func (f *File) under(name string) []*section {
	var all []*section
	for _, s := range f.sections {
		if s.name == name || strings.HasPrefix(s.name, strings.TrimSuffix(name, "/")+"/") {
			all = append(all, s)
		}
	}
	return all
}

// manifests decodes a section. It caches the result. All runs share it, because the server does not change the objects
// in requests.
func (f *File) manifests(s *section, server *fakeapi.Server) ([]*manifest.Manifest, error) {
	if s.docs != nil {
		return s.docs, nil
	}
	docs, err := manifest.Decode(f.text(s), server)
	if err != nil {
		return nil, misread(err)
	}
	s.docs = docs
	return docs, nil
}

func (f *File) text(s *section) manifest.Text {
	t := manifest.Text{File: f.Name, Line: s.line, Name: s.name, Body: s.body,
		Definitions: s.only, DefinedBy: f.definedBy}
	if s.origin != "" {
		t.File = s.origin
	}
	return t
}

func misread(err error) error {
	var e *manifest.Error
	if errors.As(err, &e) {
		return wrong(e.File, e.Line, "", "%s", e.Text)
	}
	return err
}

func (f *File) definedBy(kind string) string {
	i := slices.IndexFunc(f.sections, func(s *section) bool { return manifest.DefinesKind(s.body, kind) })
	if i < 0 {
		return ""
	}
	return f.sections[i].name
}

// base is a server with the installed objects of a file. Every world of the file begins with a fork of this server.
type base struct {
	key    baseKey
	mutex  sync.Mutex
	server *fakeapi.Server
}

type baseKey struct {
	options *fakeapi.Options
	text    [sha256.Size]byte // a hash of the texts of all installed sections
}

// bases caches the last few bases. The cases of a controller all install the same objects, and loading CRDs of several
// megabytes takes seconds.
var bases struct {
	mutex sync.Mutex
	made  []*base // oldest first
}

const mostBases = 4

func (b *base) fork() *fakeapi.Server {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.server.Fork()
}

// install returns a base with the objects of another base, on, and of the sections. on may be nil.
func (f *File) install(on *base, g *Registry, secs []*section) (*base, error) {
	key := baseKey{options: g.Server}
	if on != nil {
		key.text = on.key.text
	}
	sum := sha256.New()
	sum.Write(key.text[:])
	for _, sec := range secs {
		fmt.Fprintf(sum, "%v %d\n%s", sec.only, len(sec.body), sec.body)
	}
	sum.Sum(key.text[:0])
	bases.mutex.Lock()
	defer bases.mutex.Unlock()
	if i := slices.IndexFunc(bases.made, func(b *base) bool { return b.key == key }); i >= 0 {
		return bases.made[i], nil
	}
	made := &base{key: key}
	switch {
	case on != nil:
		made.server = on.fork()
	case g.Server != nil:
		made.server = g.server()
	default:
		made.server = fakeapi.New(fakeapi.Options{})
	}
	for _, sec := range secs {
		text := f.text(sec)
		docs, err := manifest.Decode(text, made.server)
		if err != nil {
			return nil, misread(err)
		}
		for _, m := range docs {
			if what := m.PutIn(made.server); what != "" {
				return nil, misread(text.Refused(m, what))
			}
		}
	}
	if bases.made = append(bases.made, made); len(bases.made) > mostBases {
		bases.made = slices.Delete(bases.made, 0, 1)
	}
	return made, nil
}
