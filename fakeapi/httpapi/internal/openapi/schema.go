package openapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/threelaws/threelaws/fakeapi"
)

func (s *schemas) add(k *fakeapi.Kind) {
	if _, version := k.Definition(); version != nil {
		s.mark(s.kind(k), k.GVK, "")
		s.mark(s.list(k), k.GVK, "List")
	}
	s.kind(k)
	s.list(k)
}

// gvkExtension is the extension that names the kind of a schema or an operation.
const gvkExtension = "x-kubernetes-group-version-kind"

func (s *schemas) mark(ref object, gvk schema.GroupVersionKind, suffix string) {
	name := ref["$ref"].(string)
	s.named[name[strings.LastIndexByte(name, '/')+1:]].(object)[gvkExtension] = []metav1.GroupVersionKind{
		{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind + suffix}}
}

func (s *schemas) kind(k *fakeapi.Kind) object {
	if _, version := k.Definition(); version != nil {
		return s.custom(k, version)
	}
	return s.of(k.New())
}

func (s *schemas) list(k *fakeapi.Kind) object {
	_, version := k.Definition()
	if version == nil {
		return s.of(k.NewList())
	}
	name := customModel(k) + "List"
	if _, known := s.named[name]; !known {
		s.named[name] = object{"type": "object", "description": k.GVK.Kind + "List is a list of " + k.GVK.Kind,
			"required": []string{"items"}, "properties": withTypeMeta(object{
				"items": object{"type": "array", "items": s.custom(k, version),
					"description": "List of " + k.Resource + ". More info: " + conventions},
				"metadata": s.property(metav1.ListMeta{}, "Standard list metadata. More info: "+conventions+"#types-kinds"),
			})}
	}
	return object{"$ref": s.ref(name)}
}

// conventions is a link in the real server's descriptions of the metadata of custom kinds.
const conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

// customModel returns the model name of a custom kind: reversed group, version, kind.
func customModel(k *fakeapi.Kind) string {
	parts := strings.Split(k.GVK.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.GVK.Version, k.GVK.Kind), ".")
}

// custom returns a reference to the schema of a custom kind. The schema is in version, a part of the CRD.
func (s *schemas) custom(k *fakeapi.Kind, version *apiextensionsv1.CustomResourceDefinitionVersion) object {
	name := customModel(k)
	if _, known := s.named[name]; known {
		return object{"$ref": s.ref(name)}
	}
	o := object{"type": "object"}
	if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
		raw, err := json.Marshal(version.Schema.OpenAPIV3Schema)
		if err == nil {
			err = json.Unmarshal(raw, &o)
		}
		if err != nil {
			panic(fmt.Sprintf("httpapi: the schema of %s does not encode: %v", name, err))
		}
	}
	if !s.v3 {
		strip(o)
	}
	properties, _ := o["properties"].(object)
	if properties == nil {
		properties = object{}
	}
	properties["metadata"] = s.property(metav1.ObjectMeta{}, "Standard object's metadata. More info: "+conventions+"#metadata")
	o["properties"] = withTypeMeta(properties)
	if len(version.SelectableFields) > 0 {
		fields := make([]any, len(version.SelectableFields))
		for i, f := range version.SelectableFields {
			fields[i] = object{"fieldPath": strings.TrimPrefix(f.JSONPath, ".")}
		}
		o["x-kubernetes-selectable-fields"] = fields
	}
	s.named[name] = o
	return object{"$ref": s.ref(name)}
}

func withTypeMeta(properties object) object {
	docs := metav1.TypeMeta{}.SwaggerDoc()
	for _, name := range []string{"apiVersion", "kind"} {
		properties[name] = object{"type": "string", "description": docs[name]}
	}
	return properties
}

func strip(schema object) {
	for _, key := range []string{"nullable", "oneOf", "anyOf", "allOf", "not"} {
		delete(schema, key)
	}
	for key, value := range schema {
		switch child, _ := value.(object); {
		case child == nil:
		case key == "properties":
			for _, property := range child {
				if property, ok := property.(object); ok {
					strip(property)
				}
			}
		case key == "items" || key == "additionalProperties":
			strip(child)
		}
	}
}

type object = map[string]any

type schemas struct {
	v3        bool
	named     object // the schemas, by model name
	generated map[string]common.OpenAPIDefinition
	kinds     map[string]metav1.GroupVersionKind // the built-in kinds, by model name
}

// newSchemas returns an empty set of schemas. all holds the kinds that a schema may contain.
func newSchemas(all []*fakeapi.Kind, v3 bool) *schemas {
	s := &schemas{v3: v3, named: object{}, kinds: map[string]metav1.GroupVersionKind{
		modelOf(metav1.Status{}): {Version: "v1", Kind: "Status"}}}
	for _, k := range all {
		if _, version := k.Definition(); version == nil {
			gvk := metav1.GroupVersionKind(k.GVK)
			s.kinds[modelOf(k.New())] = gvk
			gvk.Kind += "List"
			s.kinds[modelOf(k.NewList())] = gvk
		}
	}
	s.generated = generated2()
	if v3 {
		s.generated = generated3()
	}
	return s
}

func (s *schemas) ref(name string) string {
	if s.v3 {
		return refs3 + name
	}
	return refs2 + name
}

// What references to schemas begin with, in versions 2 and 3.
const refs2, refs3 = "#/definitions/", "#/components/schemas/"

// The schemas that Kubernetes generates from Go types, by model name. They are read-only.
var (
	generated2 = sync.OnceValue(func() map[string]common.OpenAPIDefinition { return generate(refs2) })
	generated3 = sync.OnceValue(func() map[string]common.OpenAPIDefinition { return generate(refs3) })
)

func generate(refs string) map[string]common.OpenAPIDefinition {
	return openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef(refs + name) })
}

// of returns a reference to the schema of a built-in type.
func (s *schemas) of(v any) object {
	name := modelOf(v)
	s.builtin(name)
	return object{"$ref": s.ref(name)}
}

func modelOf(v any) string { return v.(interface{ OpenAPIModelName() string }).OpenAPIModelName() }

// builtin adds a schema that Kubernetes generates from a Go type, and the schemas that it refers to.
func (s *schemas) builtin(name string) {
	if s.named[name] != nil {
		return
	}
	d, is := s.generated[name]
	if !is {
		panic("httpapi: Kubernetes has no schema of " + name)
	}
	if v2, is := d.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); is && !s.v3 {
		d.Schema = v2
	}
	raw, err := json.Marshal(d.Schema)
	var o object
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		panic(fmt.Sprintf("httpapi: the schema of %s does not encode: %v", name, err))
	}
	delete(o, common.ExtensionV2Schema)
	s.adapt(o)
	if gvk, is := s.kinds[name]; is {
		o[gvkExtension] = []metav1.GroupVersionKind{gvk}
	}
	s.named[name] = o
	for _, other := range d.Dependencies {
		s.builtin(other)
	}
}

// adapt changes a generated schema as kube-openapi's builders do: in version 3 a reference has nothing beside it, and
// version 2 has no defaults.
func (s *schemas) adapt(o object) {
	if ref, is := o["$ref"]; is && s.v3 && len(o) > 1 {
		delete(o, "$ref")
		o["allOf"] = []any{object{"$ref": ref}}
	}
	if !s.v3 {
		delete(o, "default")
	}
	for key, value := range o {
		child, is := value.(object)
		switch {
		case !is || key == "default":
		case key == "properties":
			for _, property := range child {
				s.adapt(property.(object))
			}
		default:
			s.adapt(child)
		}
	}
}

// property returns a reference to the schema of a built-in type, with a description.
func (s *schemas) property(v any, doc string) object {
	o := s.of(v)
	o["description"] = doc
	s.adapt(o)
	return o
}
