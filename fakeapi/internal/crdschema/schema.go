// Package crdschema is what the schema of a definition says of values: which it
// knows, what they are by default, and what is wrong with them.
package crdschema

import (
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// ForValidation makes a schema one that values are validated against: formats
// that the server does not know count for nothing.
func ForValidation(s *spec.Schema) {
	if s == nil {
		return
	}
	if yes, _ := s.Extensions.GetBool("x-kubernetes-int-or-string"); yes {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
	kind := ""
	if len(s.Type) == 1 {
		kind = s.Type[0]
	}
	if !KnownFormat(kind, s.Format) {
		s.Format = ""
	}
	//detcheck:ordered each part of a schema is changed by itself
	for key, p := range s.Properties {
		ForValidation(&p)
		s.Properties[key] = p
	}
	if s.AdditionalProperties != nil {
		ForValidation(s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		ForValidation(s.Items.Schema)
	}
	for _, list := range [][]spec.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			ForValidation(&list[i])
		}
	}
	ForValidation(s.Not)
}

// stringFormats are the formats of strings that are validated, without dashes.
var stringFormats = strings.Fields(`bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4
	uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte password date duration datetime
	k8sshortname k8slongname`)

// KnownFormat says whether the server validates values of a type by a format.
func KnownFormat(kind, format string) bool {
	switch kind {
	case "", "string":
		return format == "" || slices.Contains(stringFormats, strings.ReplaceAll(format, "-", ""))
	case "integer":
		return format == "" || format == "int32" || format == "int64"
	case "number":
		return format == "" || format == "float" || format == "double"
	}
	return format == ""
}

// DropNulls drops nulls where the schema neither allows nor defaults them.
func DropNulls(x any, s *structural.Structural) {
	switch x := x.(type) {
	case map[string]any:
		//detcheck:ordered each value is changed by itself
		for key, value := range x {
			sub := Property(s, key)
			if value == nil && sub != nil && !sub.Nullable && sub.Default.Object == nil {
				delete(x, key)
				continue
			}
			DropNulls(value, sub)
		}
	case []any:
		for _, item := range x {
			if s != nil {
				DropNulls(item, s.Items)
			}
		}
	}
}

// Property is the schema of a key of an object; nil when there is none.
func Property(s *structural.Structural, key string) *structural.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[key]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// SetDefaults fills in what the schema says of absent values, outside in.
func SetDefaults(x any, s *structural.Structural) {
	if s == nil {
		return
	}
	missing := func(value any, s *structural.Structural) bool { return value == nil && s != nil && !s.Nullable }
	switch x := x.(type) {
	case map[string]any:
		for key, p := range s.Properties { //detcheck:ordered each value is changed by itself
			if value, ok := x[key]; p.Default.Object != nil && (!ok || missing(value, &p)) {
				x[key] = runtime.DeepCopyJSONValue(p.Default.Object)
			}
		}
		//detcheck:ordered each value is changed by itself
		for key, value := range x {
			sub := Property(s, key)
			if _, named := s.Properties[key]; !named && missing(value, sub) {
				x[key] = runtime.DeepCopyJSONValue(sub.Default.Object)
			}
			SetDefaults(x[key], sub)
		}
	case []any:
		for i := range x {
			if missing(x[i], s.Items) {
				x[i] = runtime.DeepCopyJSONValue(s.Items.Default.Object)
			}
			SetDefaults(x[i], s.Items)
		}
	}
}

// Steps splits a simple path like ".spec.replicas".
func Steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
