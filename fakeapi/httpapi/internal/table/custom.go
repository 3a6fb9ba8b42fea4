package table

import (
	"reflect"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

type customColumn struct {
	kind string // the type of its cells: "string", "date", ...
	path *jsonpath.JSONPath
}

// ageAlone holds the column of a CRD without columns.
var ageAlone = []apiextensionsv1.CustomResourceColumnDefinition{
	{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp", Description: metaDocs["creationTimestamp"]},
}

// custom returns the printer for the columns of a CRD. It drops a column with an invalid path, and all columns after
// it, like k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor.
func custom(wanted []apiextensionsv1.CustomResourceColumnDefinition) *printer {
	if len(wanted) == 0 {
		wanted = ageAlone
	}
	p := &printer{columns: plain.columns[:1:1]}
	var columns []customColumn
	for _, c := range wanted {
		path := jsonpath.New(c.Name).AllowMissingKeys(true)
		if path.Parse("{"+c.JSONPath+"}") != nil {
			break
		}
		description := c.Description
		if description == "" {
			description = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		columns = append(columns, customColumn{c.Type, path})
		p.columns = append(p.columns,
			column{Name: c.Name, Type: c.Type, Format: c.Format, Description: description, Priority: c.Priority})
	}
	p.cells = func(obj runtime.Object, now time.Time) []any {
		content := obj.(runtime.Unstructured).UnstructuredContent()
		cells := []any{obj.(metav1.Object).GetName()}
		for _, c := range columns {
			cells = append(cells, c.cell(content, now))
		}
		return cells
	}
	return p
}

// cell returns the first value at the path; nil for an empty cell.
func (c *customColumn) cell(content map[string]any, now time.Time) any {
	found, err := c.path.FindResults(content)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if c.kind != "string" {
		return customCell(value, c.kind, now)
	}
	var text strings.Builder
	if err := c.path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}); err != nil {
		return nil
	}
	return text.String()
}

// customCell returns the cell for a value in a column that is not a "string"; nil if the value has another type.
func customCell(value any, kind string, now time.Time) any {
	switch kind {
	case "integer":
		switch n := value.(type) {
		case int64:
			return n
		case float64:
			return int64(n)
		}
	case "number":
		switch n := value.(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		}
	case "boolean":
		if yes, ok := value.(bool); ok {
			return yes
		}
	case "date":
		if text, ok := value.(string); ok {
			var at metav1.Time
			if err := at.UnmarshalQueryParameter(text); err != nil {
				return "<invalid>"
			}
			return since(at, now)
		}
	}
	return nil
}
