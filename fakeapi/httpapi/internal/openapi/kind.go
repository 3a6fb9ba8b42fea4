package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

// add describes a kind and its list.
func (s *schemas) add(k *fakeapi.Kind) {
	s.mark(s.kind(k), k, "")
	s.mark(s.list(k), k, "List")
}

// gvkExtension says which kind a schema or an operation is of.
const gvkExtension = "x-kubernetes-group-version-kind"

// mark says which kind a schema is of.
func (s *schemas) mark(o object, k *fakeapi.Kind, suffix string) {
	ref := o["$ref"].(string)
	s.named[ref[strings.LastIndexByte(ref, '/')+1:]].(object)[gvkExtension] = []metav1.GroupVersionKind{
		{Group: k.GVK.Group, Version: k.GVK.Version, Kind: k.GVK.Kind + suffix}}
}

// kind refers to the schema of a kind's objects.
func (s *schemas) kind(k *fakeapi.Kind) object {
	if _, version := k.Definition(); version != nil {
		return s.custom(k, version)
	}
	return s.of(reflect.TypeOf(k.New()))
}

// list refers to the schema of a kind's lists.
func (s *schemas) list(k *fakeapi.Kind) object {
	_, version := k.Definition()
	if version == nil {
		return s.of(reflect.TypeOf(k.NewList()))
	}
	name := customModel(k) + "List"
	if _, known := s.named[name]; !known {
		meta, _ := reflect.TypeFor[metav1.PartialObjectMetadataList]().FieldByName("ListMeta")
		s.named[name] = object{"type": "object", "description": k.GVK.Kind + "List is a list of " + k.GVK.Kind,
			"required": []string{"items"}, "properties": withTypeMeta(object{
				"items": object{"type": "array", "items": s.custom(k, version),
					"description": "List of " + k.Resource + ". More info: " + conventions},
				"metadata": s.property(meta, standard+"list metadata. More info: "+conventions+"#types-kinds"),
			})}
	}
	return object{"$ref": s.ref(name)}
}

// What the real server says of the metadata of custom kinds.
const (
	standard    = "Standard "
	conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
)

// customModel is the model name of a custom kind: its group backwards, its
// version and kind.
func customModel(k *fakeapi.Kind) string {
	parts := strings.Split(k.GVK.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.GVK.Version, k.GVK.Kind), ".")
}

// custom describes a custom kind by the schema of its definition.
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
	meta, _ := reflect.TypeFor[metav1.PartialObjectMetadata]().FieldByName("ObjectMeta")
	properties["metadata"] = s.property(meta, standard+"object's metadata. More info: "+conventions+"#metadata")
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

// strip removes from a schema what version 2 of OpenAPI does not have.
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
