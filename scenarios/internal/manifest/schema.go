package manifest

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// checkSchema refuses a field of a custom resource that its CRD does not have. The server drops such fields unless the
// request asks for strict validation, as kubectl's does. The server checks the values during the run.
func (d *decoder) checkSchema(n *yaml.Node, kind *fakeapi.Kind, tree map[string]any) error {
	_, version := kind.Definition()
	if version == nil {
		return nil
	}
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(tree)}
	unknown, err := kind.Prune(u)
	if err != nil {
		at := find(n, "metadata")
		return d.Wrong(d.line(at), "bad %s in %s: %v", kind.GVK.Kind, d.Name, err)
	}
	if len(unknown) == 0 {
		return nil
	}
	at := find(n, unknown[0])
	parent, last := cutPath(unknown[0])
	hint := didYouMean(last, schemaFields(version.Schema.OpenAPIV3Schema, parent))
	return d.Wrong(d.line(at), "unknown field %s of %s in %s%s", unknown[0], kind.GVK.Kind, d.Name, hint)
}

// schemaFields lists the fields that a schema has at a path.
func schemaFields(s *apiextensionsv1.JSONSchemaProps, path string) []string {
	parts := steps(path)
	if len(parts) > 0 && parts[0] == "metadata" {
		return fieldNames(reflect.TypeFor[metav1.ObjectMeta](), strings.Join(parts[1:], "."))
	}
	for _, part := range parts {
		switch p, ok := s.Properties[part]; {
		case ok:
			s = &p
		case s.Items != nil && s.Items.Schema != nil:
			s = s.Items.Schema
		case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s = s.AdditionalProperties.Schema
		default:
			return nil
		}
	}
	names := []string{}
	if path == "" {
		names = append(names, "apiVersion", "kind", "metadata")
	}
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
