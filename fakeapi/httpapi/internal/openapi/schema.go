package openapi

import (
	"reflect"
	"strings"
)

// object is a JSON object of a document.
type object = map[string]any

// schemas collects the schemas of Go types, from their fields, JSON tags and
// documentation, in the form of one version of OpenAPI.
type schemas struct {
	v3    bool
	named object // by model name
}

// model is a Go type that has a name in OpenAPI.
type model interface{ OpenAPIModelName() string }

// typed is a Go type whose schema is not that of its fields.
type typed interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// oneOf is a Go type that version 3 describes more exactly.
type oneOf interface{ OpenAPIV3OneOfTypes() []string }

// documented is a Go type with descriptions of itself ("") and its fields.
type documented interface{ SwaggerDoc() map[string]string }

func zero[T any](t reflect.Type) (v T, ok bool) {
	v, ok = reflect.Zero(t).Interface().(T)
	return v, ok
}

// ref makes sure that a named type is described and refers to it.
func (s *schemas) ref(name string) string {
	if s.v3 {
		return "#/components/schemas/" + name
	}
	return "#/definitions/" + name
}

// of is the schema of a value of a type.
func (s *schemas) of(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if m, ok := zero[model](t); ok && t.Kind() == reflect.Struct {
		name := m.OpenAPIModelName()
		if _, known := s.named[name]; !known {
			s.named[name] = object{} // types may contain themselves
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

// describe is the schema of a type itself.
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

// fields adds a struct's fields, and those of the structs it has inline.
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

// property is the schema of a field: its type's, with the field's description
// and how patches merge it.
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
