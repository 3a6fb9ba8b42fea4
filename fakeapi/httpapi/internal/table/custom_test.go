package table

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A queue with values of every type that a column can have.
const queueJSON = `{
	"apiVersion": "example.com/v1", "kind": "Queue",
	"metadata": {"name": "q", "creationTimestamp": "2026-01-01T11:00:00Z", "annotations": {"a.b/c": "yes"}},
	"spec": {
		"size": 3, "ratio": 0.5, "on": true, "none": null, "text": "t", "two words": "w", "at": "noon",
		"items": [{"name": "x", "n": 1}, {"name": "y", "n": 2}, {"name": "z", "n": 3}],
		"deep": {"name": "d", "most": {"name": "e"}},
		"empty": [], "only": {"one": "o"}
	},
	"status": {"conditions": [{"type": "Ready", "status": "True", "n": 7}, {"type": "Full", "status": "False"}]}
}`

func queue(t testing.TB) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal([]byte(queueJSON), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// Cells of all types equal the cells of the real server's converter.
func TestCustomCells(t *testing.T) {
	for _, c := range []struct {
		path, kind string
		want       any
	}{
		{".spec.size", "integer", int64(3)},
		{".spec.size", "string", "3"},
		{".spec.size", "number", 3.0},
		{".spec.size", "boolean", nil},
		{".spec.ratio", "number", 0.5},
		{".spec.ratio", "integer", int64(0)},
		{".spec.ratio", "string", "0.5"},
		{".spec.on", "boolean", true},
		{".spec.on", "string", "true"},
		{".spec.text", "string", "t"},
		{".spec.text", "integer", nil},
		{`.spec.two\ words`, "string", "w"},
		{`.spec['two\ words']`, "string", "w"},
		{".spec['two words']", "string", nil},
		{".spec.none", "string", "<no value>"},
		{".spec.none", "integer", nil},
		{".spec.gone", "string", nil},
		{".spec.gone.further", "integer", nil},
		{".spec.size.further", "string", nil},
		{".metadata.name", "string", "q"},
		{".metadata.creationTimestamp", "date", "60m"},
		{".spec.at", "date", "<invalid>"},
		{".spec.size", "date", nil},
		{`.metadata.annotations.a\.b/c`, "string", "yes"},
		{`.metadata.annotations['a\.b/c']`, "string", "yes"},
		{".spec.items", "string", `[{"n":1,"name":"x"},{"n":2,"name":"y"},{"n":3,"name":"z"}]`},
		{".spec.items[0]", "string", `{"n":1,"name":"x"}`},
		{".spec.items[0].name", "string", "x"},
		{".spec.items[-1].name", "string", "z"},
		{".spec.items[3].name", "string", nil},
		{".spec.items[0:2].name", "string", "x"},
		{".spec.items[1:].n", "integer", int64(2)},
		{".spec.items[0,2].name", "string", "x"},
		{".spec.items[*].name", "string", "x"},
		{".spec.items[?(@.n>1)].name", "string", "y"},
		{".spec.items[?(@.n==3)].name", "string", "z"},
		{".spec.items[?(@.n>3)].name", "string", nil},
		{".spec.text[0]", "string", nil},
		{".spec.empty[0]", "string", nil},
		{".spec.empty[*]", "string", nil},
		{".spec.only.*", "string", "o"},
		{".spec.deep.most..name", "string", "e"},
		{`.status.conditions[?(@.type=="Ready")].status`, "string", "True"},
		{`.status.conditions[?(@.type=='Full')].status`, "string", "False"},
		{`.status.conditions[?(@.type=="Lost")].status`, "string", nil},
		{`.status.conditions[?(@.n)].n`, "integer", int64(7)},
		{`.spec.text[?(@.n)].n`, "integer", nil},
	} {
		p := custom([]apiextensionsv1.CustomResourceColumnDefinition{{Name: "C", Type: c.kind, JSONPath: c.path}})
		if len(p.columns) != 2 {
			t.Errorf("%s cannot be parsed", c.path)
			continue
		}
		if diff := cmp.Diff(c.want, p.cells(queue(t), noon)[1]); diff != "" {
			t.Errorf("%s as %s (- want, + got)\n%s", c.path, c.kind, diff)
		}
	}
}

// A column with an invalid path is dropped, with all columns after it. A path without a value gives an empty cell.
func TestCustomColumns(t *testing.T) {
	names := func(paths ...string) (all []string, cells []any) {
		var wanted []apiextensionsv1.CustomResourceColumnDefinition
		for i, path := range paths {
			wanted = append(wanted, apiextensionsv1.CustomResourceColumnDefinition{
				Name: strconv.Itoa(i), Type: "string", JSONPath: path})
		}
		p := custom(wanted)
		for _, c := range p.columns {
			all = append(all, c.Name)
		}
		return all, p.cells(queue(t), noon)
	}
	for _, c := range []struct {
		paths []string
		names []string
		cells []any
	}{
		{nil, []string{"Name", "Age"}, []any{"q", "60m"}},
		{[]string{".spec.items[0:2].name", ".spec.deep.most..name", ".spec.items[?(@.n>1)].name", ".spec.text"},
			[]string{"Name", "0", "1", "2", "3"}, []any{"q", "x", "e", "y", "t"}},
		{[]string{".spec.items[9]", ".spec.text[?(@.n)]", ".spec.text"},
			[]string{"Name", "0", "1", "2"}, []any{"q", nil, nil, "t"}},
		{[]string{".spec.text", ".spec.items[", ".spec.text"}, []string{"Name", "0"}, []any{"q", "t"}},
		{[]string{".spec.items[?(@.n)", ".spec.text"}, []string{"Name"}, []any{"q"}},
	} {
		got, cells := names(c.paths...)
		if diff := cmp.Diff(c.names, got) + cmp.Diff(c.cells, cells); diff != "" {
			t.Errorf("%q: columns and cells (- want, + got)\n%s", c.paths, diff)
		}
	}
}

// FuzzCustomCell reads an object at any path. Each column has a cell, which can be encoded as JSON.
func FuzzCustomCell(f *testing.F) {
	for _, path := range []string{".spec.items[0:2].n", ".spec['deep']", `.spec.items[?(@.name=="y")].n`, "..name",
		".spec.items[*]", ".spec.items[-1]", ".spec.items[0,1]", `.metadata.annotations.a\.b/c`} {
		f.Add(path, "string", `{"items": [{"name": "x", "n": 1}, {"name": "y", "n": 2}], "deep": {"name": "d"}}`)
	}
	f.Fuzz(func(t *testing.T, path, kind, text string) {
		u := queue(t)
		var spec any
		if utiljson.Unmarshal([]byte(text), &spec) == nil {
			u.Object["spec"] = spec
		}
		p := custom([]apiextensionsv1.CustomResourceColumnDefinition{{Name: "C", Type: kind, JSONPath: path}})
		cells := p.cells(u, noon)
		if len(cells) != len(p.columns) {
			t.Fatalf("%d cells for %d columns", len(cells), len(p.columns))
		}
		if _, err := json.Marshal(cells); err != nil {
			t.Fatal(err)
		}
	})
}
