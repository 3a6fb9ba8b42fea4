package manifest

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/yamldoc"
	"github.com/threelaws/threelaws/sim"
)

type decoder struct {
	*Text
	server  *fakeapi.Server // a fork of the given server, with the kinds that the text defines
	refused error           // the error of the first refused CRD
}

// Decode parses the manifests in a text. A document may use kinds that an earlier document defines. Decode does not
// change the server. All errors are [*Error]s.
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
			return nil, d.Wrong(m.Line, "%s occurs twice in %s: the first is on line %d", m.Ref(), t.Name, line)
		}
		first[m.Ref()] = m.Line
		m.Text = textAt(texts, node.Content[0].Line)
		all = append(all, m)
		if what := m.DefineIn(d.server); what != "" && d.refused == nil {
			d.refused = d.Refused(m, what)
		}
	}
	if len(all) == 0 {
		return nil, d.Wrong(t.Line, "section %s holds no manifest", t.Name)
	}
	return all, nil
}

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

// Refused returns an error about a CRD that the server refuses.
func (t *Text) Refused(m *Manifest, what string) *Error {
	return t.Wrong(m.Line, "%s is refused: %s", m.Ref(), what)
}

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
		return m, nil // spec.selector of a custom resource may select other objects, so it is not checked
	}
	return m, d.checkSelector(n, tree)
}

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

func (t *Text) line(n *yaml.Node) int { return t.Line + n.Line }

var yamlLine = regexp.MustCompile(`line (\d+): `)

// otherLine matches the second line number in an error about a duplicate key. It is the line of the first occurrence.
var otherLine = regexp.MustCompile(`\bat line \d+\b`)

// yamlError replaces the line numbers in a YAML error by line numbers of the file.
func (t *Text) yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(text, "unmarshal errors:")), "\n")
	line := t.Line
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
		return "at line " + strconv.Itoa(t.Line+n)
	})
	if strings.Contains(text, "tab character") {
		line = t.tabLine(line)
	}
	return t.Wrong(line, "bad YAML in %s: %s", t.Name, text)
}

// tabLine returns the first line, from a given line on, that is indented with a tab. It corrects the number in the
// parser's error, which is too small.
func (t *Text) tabLine(from int) int {
	line := t.Line
	for text := range strings.Lines(t.Body) {
		line++
		if line >= from && strings.HasPrefix(strings.TrimLeft(text, " "), "\t") {
			return line
		}
	}
	return from
}

// find returns the node at a path like spec.containers[0].name. If there is no such node, find returns the deepest
// existing node on the path.
func find(n *yaml.Node, path string) *yaml.Node {
	at := n
	for _, part := range steps(path) {
		if i, err := strconv.Atoi(part); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			n = n.Content[i]
			at = n
			continue
		}
		next := false
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, part) {
				at, n, next = n.Content[i], n.Content[i+1], true
				break
			}
		}
		if !next {
			return at
		}
	}
	return at
}

func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func cutPath(path string) (parent, last string) {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
