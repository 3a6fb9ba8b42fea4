// Package manifest reads the manifests of a scenario file strictly. It accepts YAML documents of kinds that the server
// has, without unknown fields. It rejects duplicate objects, and selectors that do not match their own template. An
// error names its line and suggests the nearest valid word.
package manifest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/sim"
)

// Text is a text with manifests.
type Text struct {
	File        string // the file, for messages
	Line        int    // the file's line above the text; 0 if the text is the file
	Name        string // the name that steps use
	Body        string
	Definitions bool // it may contain CustomResourceDefinitions only

	// DefinedBy returns the name of another text that defines a kind of this name, or "". The error about a kind used
	// too early names that text.
	DefinedBy func(kind string) string
}

// Manifest is one document.
type Manifest struct {
	Line   int    // of its first field, in the file
	Text   string // the source text, with the comments above it
	Kind   *fakeapi.Kind
	Object runtime.Object // in the namespace "default" where it names none
	JSON   []byte

	uids bool // "$(uid ...)" stands in it
}

// Ref returns the reference of the manifest's object, without a uid.
func (m *Manifest) Ref() sim.Ref {
	o := m.Meta()
	return sim.Ref{Kind: m.Kind.GVK.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Meta returns the object's metadata.
func (m *Manifest) Meta() metav1.Object { return m.Object.(metav1.Object) }

// setNamespace sets an empty namespace to "default".
func (m *Manifest) setNamespace() {
	if o := m.Meta(); o.GetNamespace() == "" && m.Kind.Namespaced {
		o.SetNamespace(metav1.NamespaceDefault)
	}
}

// CreateRequest returns the request that creates the manifest's object.
func (m *Manifest) CreateRequest() *fakeapi.Request {
	o := m.Meta()
	return &fakeapi.Request{Verb: fakeapi.Create, Kind: m.Kind,
		Namespace: o.GetNamespace(), Name: o.GetName(), Object: m.Object}
}

// Error is a mistake on a line of a file.
type Error struct {
	File string
	Line int
	Text string
}

// Error formats the mistake in one line.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Wrong returns a mistake on a line of the text's file.
func (t *Text) Wrong(line int, format string, args ...any) *Error {
	return &Error{File: t.File, Line: line, Text: fmt.Sprintf(format, args...)}
}

// didYouMean returns the end of a message: the nearest valid word.
func didYouMean(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// UnknownKind returns the error text for an unknown kind. definedBy names the text that defines it, or is "". valid
// lists the known kinds.
func UnknownKind(name, definedBy string, valid []string) string {
	if definedBy != "" {
		return "unknown kind " + name + ": " + definedBy + " defines it, which is applied later or not at all"
	}
	return "unknown kind " + name + didYouMean(name, valid)
}
