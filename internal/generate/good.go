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

// Good collects initial objects, by kind.
type Good struct {
	// New makes an empty object of a kind; nil skips the kind.
	New func(schema.GroupVersionKind) runtime.Object
	Of  map[schema.GroupVersionKind][]runtime.Object
}

// Add reads an object in JSON, and skips kinds without New.
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

// AddRecorded adds the creates sent to a recorded server, and the stored results.
func (g *Good) AddRecorded(cases []*recorded.Case) {
	b := recorded.NewBinding()
	b.Bind("$ns", "default")
	for _, c := range cases {
		for i := range c.Exchanges {
			ex := &c.Exchanges[i]
			if ex.Method == "POST" && ex.Response.Status == 201 && ex.RawBody == nil {
				// Other bodies, such as an eviction's, are skipped.
				_ = g.Add([]byte(b.Fill(string(ex.Body))))
			}
		}
	}
}
