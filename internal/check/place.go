package check

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/nearest"
	"github.com/threelaws/threelaws/internal/yamldoc"
)

// refused is the error for an object that the server refuses.
type refused struct {
	what   string   // the beginning of the message, which names the object
	fields []string // the invalid fields: "spec.ports[0].name"; empty if the error names none
	text   string
	object *unstructured.Unstructured // set by [File.place]
}

func (r *refused) Error() string { return r.what + ": " + r.text }

// Refused reports whether an error says that the server refuses an object of the sample's file.
func Refused(err error) bool { return errors.As(err, new(*refused)) }

// RefusedObject returns the object of the sample's file that the server refuses according to an error, or nil.
func RefusedObject(err error) *unstructured.Unstructured {
	if r := (*refused)(nil); errors.As(err, &r) {
		return r.object
	}
	return nil
}

// RefusedByWebhook reports whether an error says that a webhook of the operator refuses an object of the sample's file.
func RefusedByWebhook(err error) bool {
	r := (*refused)(nil)
	return errors.As(err, &r) && strings.HasPrefix(r.what, byWebhook)
}

const byWebhook = "with the operator's webhooks the server refuses "

func refusal(what string, err error) *refused {
	r := &refused{what: what, text: strings.ReplaceAll(err.Error(), "\n", " ")}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return r
	}
	for _, c := range status.Status().Details.Causes {
		r.fields = append(r.fields, c.Field)
	}
	if _, rest, ok := strings.Cut(r.text, " is invalid: "); ok && len(r.fields) > 0 {
		r.text = rest
	}
	return r
}

func unknown(what string, k *fakeapi.Kind, fields []string) *refused {
	text := "there is no field " + strings.Join(fields, ", ")
	words := path(fields[0])
	if n := nearest.Word(words[len(words)-1], known(k, words)); n != "" {
		text += "; did you mean " + n + "?"
	}
	return &refused{what: what, fields: fields, text: text}
}

func strict(what string, err error) *refused {
	r := &refused{what: what, text: strings.ReplaceAll(err.Error(), "\n", " ")}
	for _, m := range unknownField.FindAllStringSubmatch(r.text, -1) {
		r.fields = append(r.fields, m[1])
	}
	return r
}

var unknownField = regexp.MustCompile(`unknown field "([^"]+)"`)

// known lists the fields that the schema defines in the parent of an unknown field. words is the unknown field's path.
func known(k *fakeapi.Kind, words []string) (names []string) {
	_, version := k.Definition()
	if version == nil || version.Schema == nil {
		return nil
	}
	schema := version.Schema.OpenAPIV3Schema
	for _, word := range words[:len(words)-1] {
		switch {
		case schema == nil:
			return nil
		case schema.Items != nil && schema.Items.Schema != nil:
			schema = schema.Items.Schema
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
			schema = schema.AdditionalProperties.Schema
		default:
			below, ok := schema.Properties[word]
			if !ok {
				return nil
			}
			schema = &below
		}
	}
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// path splits a field's path in the form of server errors: "spec.ports[0].name" or "metadata.labels[example.com/a]".
func path(field string) (words []string) {
	for field != "" {
		if rest, ok := strings.CutPrefix(field, "["); ok {
			word, after, _ := strings.Cut(rest, "]")
			words, field = append(words, word), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		words, field = append(words, field[:end]), strings.TrimPrefix(field[end:], ".")
	}
	return words
}

// at returns the line of a field in a file. If the field does not exist, it returns the line of the nearest existing
// parent. The parameter line is the first line of the object.
func at(text []byte, line int, field string) int {
	for _, doc := range yamldoc.Split(text) {
		if line < doc.Line || line > doc.Line+bytes.Count(doc.Text, []byte("\n")) {
			continue
		}
		var n yaml.Node
		if yaml.Unmarshal(doc.Text, &n) != nil || len(n.Content) == 0 {
			break
		}
		from := n.Content[0]
		for _, word := range path(field) {
			key, value := below(from, word)
			if value == nil {
				break
			}
			line, from = doc.Line+key.Line-1, value
		}
		break
	}
	return line
}

// below returns the key and the value of a field or a list item, or nil if there is none.
func below(n *yaml.Node, word string) (key, value *yaml.Node) {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n == nil:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == word {
				return n.Content[i], n.Content[i+1]
			}
		}
	case n.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(word); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}

// place adds the file and the line of an object to an error.
func (f *File) place(m manifest, err error) error {
	if r := (*refused)(nil); errors.As(err, &r) {
		r.object = m.Unstructured
	}
	at := slices.IndexFunc(f.Objects, func(o Object) bool { return o.Unstructured == m.Unstructured })
	if at < 0 || f.Objects[at].Line == 0 {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	return fmt.Errorf("%s:%d: %w", f.Name, f.line(&f.Objects[at], err), err)
}

func (f *File) line(o *Object, err error) int {
	r := (*refused)(nil)
	if !errors.As(err, &r) || len(r.fields) == 0 {
		return o.Line
	}
	text := f.text
	if text == nil && f.Path != "" {
		text, _ = os.ReadFile(f.Path) // if the file cannot be read, the error names the line of the object
	}
	return at(text, o.Line, r.fields[0])
}
