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

func (s *schemas) add(k *fakeapi.Kind) {
	s.mark(s.kind(k), k, "")
	s.mark(s.list(k), k, "List")
}

// gvkExtension is the extension that names the kind of a schema or an operation.
const gvkExtension = "x-kubernetes-group-version-kind"

func (s *schemas) mark(o object, k *fakeapi.Kind, suffix string) {
	ref := o["$ref"].(string)
	s.named[ref[strings.LastIndexByte(ref, '/')+1:]].(object)[gvkExtension] = []metav1.GroupVersionKind{
		{Group: k.GVK.Group, Version: k.GVK.Version, Kind: k.GVK.Kind + suffix}}
}

func (s *schemas) kind(k *fakeapi.Kind) object {
	if _, version := k.Definition(); version != nil {
		return s.custom(k, version)
	}
	return s.of(reflect.TypeOf(k.New()))
}

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

// Parts of descriptions that the real server's document has for the metadata of custom kinds.
const (
	standard    = "Standard "
	conventions = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
)

// customModel returns the model name of a custom kind: reversed group, version, kind.
func customModel(k *fakeapi.Kind) string {
	parts := strings.Split(k.GVK.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.GVK.Version, k.GVK.Kind), ".")
}

// custom returns a reference to the schema of a custom kind, which comes from its CRD.
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
	v3    bool
	named object // the schemas, by model name
}

// model is a Go type that has a name in OpenAPI.
type model interface{ OpenAPIModelName() string }

// typed is a Go type that OpenAPI shows as a simple type, such as metav1.Time as a string.
type typed interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// oneOf is a Go type with several types in OpenAPI version 3, such as IntOrString.
type oneOf interface{ OpenAPIV3OneOfTypes() []string }

// documented is a Go type with descriptions of its fields. The key "" has the description of the type.
type documented interface{ SwaggerDoc() map[string]string }

func zero[T any](t reflect.Type) (v T, ok bool) {
	v, ok = reflect.Zero(t).Interface().(T)
	return v, ok
}

func (s *schemas) ref(name string) string {
	if s.v3 {
		return "#/components/schemas/" + name
	}
	return "#/definitions/" + name
}

func (s *schemas) of(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if m, ok := zero[model](t); ok && t.Kind() == reflect.Struct {
		name := m.OpenAPIModelName()
		if _, known := s.named[name]; !known {
			s.named[name] = object{} // a type may contain itself
			s.named[name] = s.describe(t)
		}
		return object{"$ref": s.ref(name)}
	}
	if _, ok := zero[typed](t); ok {
		return s.describe(t)
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return object{"type": "integer", "format": "int32"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number", "format": "double"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "format": "byte"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	}
	return s.describe(t)
}

func (s *schemas) describe(t reflect.Type) object {
	docs := docsOf(t)
	o := object{}
	if text := docs[""]; text != "" {
		o["description"] = text
	}
	if own, ok := zero[typed](t); ok {
		if alternatives, ok := zero[oneOf](t); ok && s.v3 {
			var any []object
			for _, name := range alternatives.OpenAPIV3OneOfTypes() {
				any = append(any, object{"type": name})
			}
			o["oneOf"] = any
		} else if types := own.OpenAPISchemaType(); len(types) > 0 {
			o["type"] = types[0]
		}
		if f := own.OpenAPISchemaFormat(); f != "" {
			o["format"] = f
		}
		return o
	}
	o["type"] = "object"
	if t.Kind() != reflect.Struct {
		return o
	}
	properties, required := object{}, []string{}
	s.fields(t, docs, properties, &required)
	if len(properties) > 0 {
		o["properties"] = properties
	}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func docsOf(t reflect.Type) map[string]string {
	if d, ok := zero[documented](t); ok {
		return d.SwaggerDoc()
	}
	return nil
}

func (s *schemas) fields(t reflect.Type, docs map[string]string, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				s.fields(inner, docsOf(inner), properties, required)
			}
			continue
		case name == "":
			continue
		}
		properties[name] = s.property(f, docs[name])
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// property returns the schema of a field, with its description, merge key and merge strategy.
func (s *schemas) property(f reflect.StructField, doc string) object {
	o := s.of(f.Type)
	key, strategy := f.Tag.Get("patchMergeKey"), f.Tag.Get("patchStrategy")
	if _, refers := o["$ref"]; refers && s.v3 && (doc != "" || strategy != "") {
		o = object{"allOf": []object{o}}
	}
	if doc != "" {
		o["description"] = doc
	}
	if key != "" {
		o["x-kubernetes-patch-merge-key"] = key
	}
	if strategy != "" {
		o["x-kubernetes-patch-strategy"] = strategy
	}
	return o
}
