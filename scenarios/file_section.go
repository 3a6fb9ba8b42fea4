package scenarios

import (
	"errors"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
)

// section is one file of the archive.
type section struct {
	name string
	line int // of its marker, from 1; the body starts on the next
	body string

	read      bool                 // some step reads it
	only      bool                 // it may contain CRDs only
	installed bool                 // its objects exist from the start
	origin    string               // the file it was read from, "" when it is part of the archive
	docs      []*manifest.Manifest // decoded; shared by all runs, which only read them

	entries []int // of a schedule: the line of each entry
}

// section finds a section by name, or returns nil.
func (f *File) section(name string) *section {
	for _, s := range f.sections {
		if s.name == name {
			return s
		}
	}
	return nil
}

// sectionNames lists the sections in the order of the file.
func (f *File) sectionNames() []string {
	names := make([]string, len(f.sections))
	for i, s := range f.sections {
		names[i] = s.name
	}
	return names
}

// exactly returns the section of a name, if any.
func (f *File) exactly(name string) []*section {
	if s := f.section(name); s != nil {
		return []*section{s}
	}
	return nil
}

// under lists the sections at a path: the one of that name, and those in the directory of that name.
func (f *File) under(name string) []*section {
	var all []*section
	for _, s := range f.sections {
		if s.name == name || strings.HasPrefix(s.name, strings.TrimSuffix(name, "/")+"/") {
			all = append(all, s)
		}
	}
	return all
}

// manifests decodes a section once. The server does not modify objects in requests, so all runs of a file share them.
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

// text returns the section's text for reading manifests.
func (f *File) text(s *section) manifest.Text {
	t := manifest.Text{File: f.Name, Line: s.line, Name: s.name, Body: s.body,
		Definitions: s.only, DefinedBy: f.definedBy}
	if s.origin != "" {
		t.File = s.origin
	}
	return t
}

// misread turns a mistake in a manifest into one of the scenario file.
func misread(err error) error {
	var e *manifest.Error
	if errors.As(err, &e) {
		return wrong(e.File, e.Line, "", "%s", e.Text)
	}
	return err
}

// definedBy returns the name of the section that defines a kind of this name, or "".
func (f *File) definedBy(kind string) string {
	i := slices.IndexFunc(f.sections, func(s *section) bool { return manifest.DefinesKind(s.body, kind) })
	if i < 0 {
		return ""
	}
	return f.sections[i].name
}
