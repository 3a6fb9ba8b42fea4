// Package manifest parses the manifests of a scenario file strictly. It accepts YAML documents whose kinds the server
// has. It rejects unknown fields, duplicate objects, and selectors that do not match the labels of their own template.
// An error contains the line. It suggests the nearest valid word, if there is one.
package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Text is a YAML text with manifests.
type Text struct {
	File        string // the name of the file, for messages
	Line        int    // the number of lines in the file before the text
	Name        string // the name of the section in steps
	Body        string
	Definitions bool // documents other than CustomResourceDefinitions are skipped

	// DefinedBy returns the name of another text that defines a kind, or "", for errors about unknown kinds.
	DefinedBy func(kind string) string
}

// Manifest is a document in a text.
type Manifest struct {
	Line   int    // the line of its first field in the file
	Text   string // the source text, including comments before it
	Kind   *fakeapi.Kind
	Object runtime.Object // if its kind is namespaced, an empty namespace is set to "default"
	JSON   []byte

	uids bool // the text contains expressions "$(uid ...)"
}

// Ref returns the reference of the object, without a UID.
func (m *Manifest) Ref() sim.Ref {
	o := m.Meta()
	return sim.Ref{Kind: m.Kind.GVK.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Meta returns the object's metadata.
func (m *Manifest) Meta() metav1.Object { return m.Object.(metav1.Object) }

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

// Error is a mistake in a line of a file.
type Error struct {
	File string
	Line int
	Text string
}

// Error formats the mistake in one line.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

// Wrong returns an Error about a line of the text's file.
func (t *Text) Wrong(line int, format string, args ...any) *Error {
	return &Error{File: t.File, Line: line, Text: fmt.Sprintf(format, args...)}
}

func didYouMean(word string, valid []string) string {
	if n := nearest.Word(word, valid); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// UnknownKind returns an error text about an unknown kind. definedBy is the name of a text that defines the kind, or
// "". valid contains the known kinds.
func UnknownKind(name, definedBy string, valid []string) string {
	if definedBy != "" {
		return "unknown kind " + name + ": " + definedBy + " defines it, but is not applied before this step"
	}
	return "unknown kind " + name + didYouMean(name, valid)
}

// Definition is the kind of a CRD.
const Definition = "CustomResourceDefinition"

// Defines reports whether the manifest is a CRD.
func (m *Manifest) Defines() bool {
	return m.Kind.GVK.Kind == Definition && m.Kind.GVK.Group == apiextensionsv1.GroupName
}

func isDefinition(n *yaml.Node) bool {
	kind := child(n.Content[0], "kind")
	return kind != nil && kind.Value == Definition
}

// DefineIn creates a CRD on a server that is only used for checking the rest of the file. It returns why the server
// refused the CRD, or "". For other manifests it does nothing.
func (m *Manifest) DefineIn(server *fakeapi.Server) string {
	if !m.Defines() {
		return ""
	}
	return m.PutIn(server)
}

// PutIn creates the object on a server that no world uses yet, or merges the manifest into an existing object. It
// returns why the server refused this, or "".
func (m *Manifest) PutIn(server *fakeapi.Server) string {
	k := server.Kind(m.Kind.GVK)
	if k == nil {
		return "there is no such kind"
	}
	req, o := m.CreateRequest(), m.Meta()
	req.Kind = k
	if o.GetName() != "" && server.Lookup(k, o.GetNamespace(), o.GetName()) != nil {
		req = &fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Namespace: o.GetNamespace(), Name: o.GetName(),
			PatchType: types.MergePatchType, Patch: m.JSON}
	}
	resp, _ := server.Do(sim.Epoch, req)
	if resp.Err == nil {
		return ""
	}
	st := resp.Err.ErrStatus
	return render.RefusalOf(&sim.Record{Code: int(st.Code), Reason: string(st.Reason), Message: st.Message})
}

// DefinesKind reports whether a CRD in a text defines a kind with this name, plural, singular or short name. It ignores
// the text from the first invalid document on.
func DefinesKind(body, name string) bool {
	if name == "" {
		return false
	}
	docs := yaml.NewDecoder(strings.NewReader(body))
	for {
		var d struct {
			Kind string
			Spec struct {
				Names struct {
					Kind, Plural, Singular string
					ShortNames             []string `yaml:"shortNames"`
				}
			}
		}
		if err := docs.Decode(&d); err != nil {
			return false
		}
		n := d.Spec.Names
		all := append([]string{n.Kind, n.Plural, n.Singular}, n.ShortNames...)
		if d.Kind == Definition && slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, name) }) {
			return true
		}
	}
}

// uidOf matches an expression for the UID of an object in a manifest or patch, for example "$(uid rs/web)".
var uidOf = regexp.MustCompile(`\$\(uid ([^()\s"]*)\)`)

func hasUIDs(text []byte) bool { return uidOf.Match(text) }

// ReplaceUIDs replaces each expression $(uid OBJECT) by the result of uid, which is called with the expression and
// OBJECT. An expression for which uid fails is not replaced. ReplaceUIDs returns the first error.
func ReplaceUIDs(text []byte, uid func(expr, object string) (string, error)) ([]byte, error) {
	var first error
	out := uidOf.ReplaceAllFunc(text, func(expr []byte) []byte {
		id, err := uid(string(expr), string(uidOf.FindSubmatch(expr)[1]))
		if err == nil {
			return []byte(id)
		}
		if first == nil {
			first = err
		}
		return expr
	})
	return out, first
}

// WithUIDs returns the manifest with UIDs in place of the expressions $(uid OBJECT).
func (m *Manifest) WithUIDs(uid func(expr, object string) (string, error)) (*Manifest, error) {
	if !m.uids {
		return m, nil
	}
	data, err := ReplaceUIDs(m.JSON, uid)
	if err != nil {
		return nil, err
	}
	own := *m
	own.JSON, own.Object = data, m.Kind.New()
	if err := json.Unmarshal(data, own.Object); err != nil {
		panic("manifest: it does not decode with uids in it: " + err.Error())
	}
	own.setNamespace()
	return &own, nil
}
