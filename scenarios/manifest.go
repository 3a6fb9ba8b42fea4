package scenarios

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

// Manifest is one document of a section.
type Manifest struct {
	Line   int // in the file, of its first field
	Kind   *fakeapi.Kind
	Object runtime.Object
	JSON   []byte
}

// Ref names the manifest's object, without a uid.
func (m *Manifest) Ref() sim.Ref {
	o := m.Object.(metav1.Object)
	return sim.Ref{Kind: m.Kind.GVK.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// decoder decodes the documents of one section strictly.
type decoder struct {
	file    *File
	section *Section
	server  *fakeapi.Server
}

// Manifests decodes a section: YAML documents of kinds the server has, with no
// field the kind does not have, no object twice, and no selector that does not
// match its own template. Objects without a namespace are in "default".
func (f *File) Manifests(s *Section, server *fakeapi.Server) ([]*Manifest, error) {
	d := &decoder{file: f, section: s, server: server}
	var all []*Manifest
	first := map[sim.Ref]int{}
	docs := yaml.NewDecoder(strings.NewReader(s.Body))
	for {
		var node yaml.Node
		err := docs.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, d.yamlError(err)
		}
		if empty(&node) {
			continue
		}
		m, err := d.document(node.Content[0])
		if err != nil {
			return nil, err
		}
		if line, ok := first[m.Ref()]; ok {
			return nil, d.wrong(m.Line, "%s stands twice in %s: the first is on line %d", m.Ref(), s.Name, line)
		}
		first[m.Ref()] = m.Line
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, wrong(f.Name, s.Line, "", "section %s holds no manifest", s.Name)
	}
	return all, nil
}

// manifests decodes a section once. Objects sent to a server stay the caller's,
// so that all runs of a file share them.
func (f *File) manifests(s *Section, server *fakeapi.Server) ([]*Manifest, error) {
	if s.docs == nil {
		docs, err := f.Manifests(s, server)
		if err != nil {
			return nil, err
		}
		s.docs = docs
	}
	return s.docs, nil
}

func empty(n *yaml.Node) bool {
	return len(n.Content) == 0 || n.Content[0].Kind == yaml.ScalarNode && n.Content[0].Tag == "!!null"
}

// wrong is a mistake on a line of the file.
func (d *decoder) wrong(line int, format string, args ...any) *Error {
	return wrong(d.file.Name, line, "", format, args...)
}

// line translates a line of the section into one of the file.
func (d *decoder) line(n *yaml.Node) int { return d.section.Line + n.Line }

var yamlLine = regexp.MustCompile(`line (\d+): `)

// otherLine is a second line that an error names: where a key stood first.
var otherLine = regexp.MustCompile(`\bat line \d+\b`)

// yamlError moves the lines of a YAML error into the file.
func (d *decoder) yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, "unmarshal errors:")), "\n")
	line := d.section.Line
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		line += n
		text = text[:m[0]] + text[m[1]:]
	} else {
		line++
	}
	text, _, _ = strings.Cut(text, "\n")
	text = otherLine.ReplaceAllStringFunc(text, func(m string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(m, "at line "))
		return "at line " + strconv.Itoa(d.section.Line+n)
	})
	if strings.Contains(text, "tab character") {
		line = d.tabLine(line)
	}
	return d.wrong(line, "bad YAML in %s: %s", d.section.Name, text)
}

// tabLine is the first line from one on that is indented with a tab: the parser
// names the line before it.
func (d *decoder) tabLine(from int) int {
	line := d.section.Line
	for text := range strings.Lines(d.section.Body) {
		line++
		if line >= from && strings.HasPrefix(strings.TrimLeft(text, " "), "\t") {
			return line
		}
	}
	return from
}

// document decodes one document.
func (d *decoder) document(n *yaml.Node) (*Manifest, error) {
	if n.Kind != yaml.MappingNode {
		return nil, d.wrong(d.line(n), "bad YAML in %s: a manifest is a mapping with apiVersion and kind", d.section.Name)
	}
	kind, err := d.kind(n)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := n.Decode(&tree); err != nil {
		return nil, d.yamlError(err)
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return nil, d.wrong(d.line(n), "bad YAML in %s: keys must be strings", d.section.Name)
	}
	m := &Manifest{Line: d.line(n), Kind: kind, JSON: data}
	if m.Object, err = d.decode(n, kind, data); err != nil {
		return nil, err
	}
	o := m.Object.(metav1.Object)
	if o.GetNamespace() == "" && kind.Namespaced {
		o.SetNamespace("default")
	}
	if o.GetName() == "" && o.GetGenerateName() == "" {
		return nil, d.wrong(m.Line, "%s without metadata.name", kind.GVK.Kind)
	}
	return m, d.checkSelector(n, tree)
}

// kind finds the kind of a document.
func (d *decoder) kind(n *yaml.Node) (*fakeapi.Kind, error) {
	version, name := child(n, "apiVersion"), child(n, "kind")
	if version == nil || name == nil {
		return nil, d.wrong(d.line(n), "bad manifest in %s: apiVersion and kind must be given", d.section.Name)
	}
	gv, err := schema.ParseGroupVersion(version.Value)
	if err != nil {
		return nil, d.wrong(d.line(version), "apiVersion %s: %v", version.Value, err)
	}
	if k := d.server.Kind(gv.WithKind(name.Value)); k != nil {
		return k, nil
	}
	var kinds []string
	for _, k := range d.server.Kinds() {
		if k.GVK.Kind == name.Value {
			return nil, d.wrong(d.line(version), "unknown apiVersion %s of %s; did you mean %s?", version.Value, name.Value, k.GVK.GroupVersion())
		}
		kinds = append(kinds, k.GVK.Kind)
	}
	return nil, d.wrong(d.line(name), "unknown kind %s%s", name.Value, suggest(name.Value, kinds))
}

// child returns the value of a key of a mapping, nil when it has none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
