// Package manifest reads the manifests of a scenario file strictly: YAML
// documents of kinds that a server has, with no field that the kind does not
// have, no object twice, and no selector that does not match its own template.
// A mistake is told with its line, and with what was probably meant.
package manifest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/sim"
)

// Text is where manifests stand.
type Text struct {
	File        string // the file, for messages
	Line        int    // in the file, of the line above the text; 0 where the text is the file
	Name        string // what steps call it
	Body        string
	Definitions bool // only CustomResourceDefinitions are read, and nothing else

	// DefinedBy names another text that defines a kind of this name, "" for none:
	// for the message about a kind that is used too early.
	DefinedBy func(kind string) string
}

// Manifest is one document.
type Manifest struct {
	Line   int    // in the file, of its first field
	Text   string // as it is written, with the comments above it
	Kind   *fakeapi.Kind
	Object runtime.Object // in the namespace "default" where it names none
	JSON   []byte

	uids bool // "$(uid ...)" stands in it
}

// Ref names the manifest's object, without a uid.
func (m *Manifest) Ref() sim.Ref {
	o := m.Meta()
	return sim.Ref{Kind: m.Kind.GVK.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Meta is the object's metadata.
func (m *Manifest) Meta() metav1.Object { return m.Object.(metav1.Object) }

// setNamespace puts an object without a namespace into "default".
func (m *Manifest) setNamespace() {
	if o := m.Meta(); o.GetNamespace() == "" && m.Kind.Namespaced {
		o.SetNamespace(metav1.NamespaceDefault)
	}
}

// CreateRequest is the request that creates the manifest's object.
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

// Error renders the mistake in one line.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Wrong is a mistake on a line of the text's file.
func (t *Text) Wrong(line int, format string, args ...any) *Error {
	return &Error{File: t.File, Line: line, Text: fmt.Sprintf(format, args...)}
}

// didYouMean ends a message with the valid word that is near.
func didYouMean(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// UnknownKind says that there is no kind of this name; definedBy names the text
// that defines one, "" for none, and valid are the words that there are.
func UnknownKind(name, definedBy string, valid []string) string {
	if definedBy != "" {
		return "unknown kind " + name + ": " + definedBy + " defines it, which is applied later or not at all"
	}
	return "unknown kind " + name + didYouMean(name, valid)
}
