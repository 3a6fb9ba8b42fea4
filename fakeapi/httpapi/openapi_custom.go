package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

// kind refers to the schema of a kind's objects.
func (s *schemas) kind(k *fakeapi.Kind) object {
	if isCustom(k) {
		return s.custom(k)
	}
	return s.of(reflect.TypeOf(k.New()))
}

// list refers to the schema of a kind's lists.
func (s *schemas) list(k *fakeapi.Kind) object {
	if !isCustom(k) {
		return s.of(reflect.TypeOf(k.NewList()))
	}
	name := customModel(k) + "List"
	if _, known := s.named[name]; !known {
		s.named[name] = object{"type": "object", "required": []string{"items"}, "properties": withTypeMeta(object{
			"items":    object{"type": "array", "items": s.custom(k)},
			"metadata": s.of(reflect.TypeFor[metav1.ListMeta]()),
		})}
	}
	return object{"$ref": s.ref(name)}
}

// customModel is the model name of a custom kind: its group backwards, its
// version and kind.
func customModel(k *fakeapi.Kind) string {
	parts := strings.Split(k.GVK.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, k.GVK.Version, k.GVK.Kind), ".")
}

// custom describes a custom kind by the schema of its definition.
func (s *schemas) custom(k *fakeapi.Kind) object {
	name := customModel(k)
	if _, known := s.named[name]; known {
		return object{"$ref": s.ref(name)}
	}
	o := object{"type": "object"}
	if _, v := k.Definition(); v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		raw, err := json.Marshal(v.Schema.OpenAPIV3Schema)
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
	properties["metadata"] = s.of(reflect.TypeFor[metav1.ObjectMeta]())
	o["properties"] = withTypeMeta(properties)
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
