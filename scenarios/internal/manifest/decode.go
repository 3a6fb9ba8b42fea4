package manifest

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/yamldoc"
	"github.com/threelaws/threelaws/sim"
)

// decoder decodes the documents of one text.
type decoder struct {
	*Text
	server  *fakeapi.Server // a fork with the kinds that the text defines
	refused error           // the first CRD that was refused
}

// Decode reads the manifests of a text. A document may use kinds that an earlier one defines; the server does not
// change. Errors are [*Error]s.
func Decode(t Text, server *fakeapi.Server) ([]*Manifest, error) {
	d := &decoder{Text: &t, server: server.Fork()}
	var all []*Manifest
	first := map[sim.Ref]int{}
	texts := yamldoc.Split([]byte(t.Body))
	docs := yaml.NewDecoder(strings.NewReader(t.Body))
	for {
		var node yaml.Node
		err := docs.Decode(&node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, d.yamlError(err)
		}
		if empty(&node) || t.Definitions && !isDefinition(&node) {
			continue
		}
		m, err := d.document(node.Content[0])
		if err != nil {
			return nil, err
		}
		if line, ok := first[m.Ref()]; ok {
			return nil, d.Wrong(m.Line, "%s stands twice in %s: the first is on line %d", m.Ref(), t.Name, line)
		}
		first[m.Ref()] = m.Line
		m.Text = textAt(texts, node.Content[0].Line)
		all = append(all, m)
		d.define(m)
	}
	if len(all) == 0 {
		return nil, d.Wrong(t.Line, "section %s holds no manifest", t.Name)
	}
	return all, nil
}

// textAt returns the document that contains a line.
func textAt(docs []yamldoc.Document, line int) string {
	text := ""
	for _, d := range docs {
		if d.Line <= line {
			text = string(d.Text)
		}
	}
	return strings.TrimRight(text, "\n") + "\n"
}

func empty(n *yaml.Node) bool {
	return len(n.Content) == 0 || n.Content[0].Kind == yaml.ScalarNode && n.Content[0].Tag == "!!null"
}

// define makes the kinds of a CRD known to later documents.
func (d *decoder) define(m *Manifest) {
	if what := m.DefineIn(d.server); what != "" && d.refused == nil {
		d.refused = d.Refused(m, what)
	}
}

// Refused reports a CRD that the server refuses.
func (t *Text) Refused(m *Manifest, what string) *Error {
	return t.Wrong(m.Line, "%s is refused: %s", m.Ref(), what)
}

// document decodes one document.
func (d *decoder) document(n *yaml.Node) (*Manifest, error) {
	if n.Kind != yaml.MappingNode {
		return nil, d.Wrong(d.line(n), "bad YAML in %s: a manifest is a mapping with apiVersion and kind", d.Name)
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
		return nil, d.Wrong(d.line(n), "bad YAML in %s: keys must be strings", d.Name)
	}
	m := &Manifest{Line: d.line(n), Kind: kind, JSON: data, uids: hasUIDs(data)}
	if m.Object, err = d.decode(n, kind, data); err != nil {
		return nil, err
	}
	m.setNamespace()
	if o := m.Meta(); o.GetName() == "" && o.GetGenerateName() == "" {
		return nil, d.Wrong(m.Line, "%s without metadata.name", kind.GVK.Kind)
	}
	if definition, _ := kind.Definition(); definition != nil {
		return m, nil // its fields are not checked
	}
	return m, d.checkSelector(n, tree)
}

// kind finds the kind of a document.
func (d *decoder) kind(n *yaml.Node) (*fakeapi.Kind, error) {
	version, name := child(n, "apiVersion"), child(n, "kind")
	if version == nil || name == nil {
		return nil, d.Wrong(d.line(n), "bad manifest in %s: apiVersion and kind must be given", d.Name)
	}
	gv, err := schema.ParseGroupVersion(version.Value)
	if err != nil {
		return nil, d.Wrong(d.line(version), "apiVersion %s: %v", version.Value, err)
	}
	if k := d.server.Kind(gv.WithKind(name.Value)); k != nil {
		return k, nil
	}
	var kinds []string
	for _, k := range d.server.Served() {
		if k.GVK.Kind == name.Value {
			return nil, d.Wrong(d.line(version), "unknown apiVersion %s of %s; did you mean %s?",
				version.Value, name.Value, k.GVK.GroupVersion())
		}
		kinds = append(kinds, k.GVK.Kind)
	}
	if d.refused != nil {
		return nil, d.refused
	}
	return nil, d.Wrong(d.line(name), "%s", UnknownKind(name.Value, d.DefinedBy(name.Value), kinds))
}

// child returns the value of a key of a mapping, or nil.
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
