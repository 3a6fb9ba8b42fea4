package custom

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// selectablePath is a field that a field selector may name.
type selectablePath struct {
	name string
	path []string
}

func selectablePaths(list []apiextensionsv1.SelectableField) (paths []selectablePath) {
	for _, f := range list {
		paths = append(paths, selectablePath{strings.TrimPrefix(f.JSONPath, "."), crdschema.Steps(f.JSONPath)})
	}
	return paths
}

// text is the field's value as a selector compares it; "" when there is none.
func (p selectablePath) text(object map[string]any) string {
	value, ok, err := unstructured.NestedFieldNoCopy(object, p.path...)
	if err != nil || !ok || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
