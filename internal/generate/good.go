package generate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/internal/recorded"
)

// Good collects objects to begin with, by kind.
type Good struct {
	// New makes an empty object of a kind; nil for a kind that is not wanted.
	New func(schema.GroupVersionKind) runtime.Object
	Of  map[schema.GroupVersionKind][]runtime.Object
}

// Add reads an object in JSON. One of a kind that is not wanted is left out.
func (g *Good) Add(raw []byte) error {
	var u unstructured.Unstructured
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		return err
	}
	gvk := u.GroupVersionKind()
	obj := g.New(gvk)
	if obj == nil {
		return nil
	}
	if err := json.Unmarshal(raw, obj); err != nil {
		return fmt.Errorf("%s %s: %w", gvk.Kind, u.GetName(), err)
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	if g.Of == nil {
		g.Of = map[schema.GroupVersionKind][]runtime.Object{}
	}
	g.Of[gvk] = append(g.Of[gvk], obj)
	return nil
}

// AddFile adds the objects of a file of YAML documents.
func (g *Good) AddFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		raw, err := yaml.YAMLToJSONStrict(doc)
		if err == nil {
			err = g.Add(raw)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// AddRecorded adds what a recorded server was sent in creates and stored.
func (g *Good) AddRecorded(cases []*recorded.Case) {
	b := recorded.NewBinding()
	b.Bind("$ns", "default")
	for _, c := range cases {
		for i := range c.Exchanges {
			ex := &c.Exchanges[i]
			if ex.Method == "POST" && ex.Response.Status == 201 && ex.RawBody == nil {
				// What is no object of its kind, as the body of an eviction, is of no use.
				_ = g.Add([]byte(b.Fill(string(ex.Body))))
			}
		}
	}
}
