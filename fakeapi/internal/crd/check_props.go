package crd

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// propsPlace describes where a part of a schema is, such as the schema of one field.
type propsPlace struct {
	root       bool
	meta       bool   // the part is inside the metadata of the object or of an embedded object
	noDefaults string // why a default is forbidden; "" if it is allowed
}

func validateProps(s *apiextensions.JSONSchemaProps, path *field.Path, place propsPlace) (errs field.ErrorList) {
	if s == nil {
		return nil
	}
	errs = append(validateStandard(s, path, place), validateExtensions(s, path)...)
	below := place
	below.root = false
	if a := s.AdditionalProperties; a != nil {
		if len(s.Properties) != 0 && (!a.Allows || a.Schema != nil) {
			errs = append(errs, field.Forbidden(path.Child("additionalProperties"),
				"additionalProperties and properties are mutual exclusive"))
		}
		sub := below
		if place.meta {
			sub.noDefaults = "inside additionalProperties applying to object metadata"
		}
		errs = append(errs, validateProps(a.Schema, path.Child("additionalProperties"), sub)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		sub := below
		if (place.root || s.XEmbeddedResource) && (name == "metadata" || name == "kind" || name == "apiVersion") {
			sub.meta = true
			if place.root {
				sub.noDefaults = "in top-level " + name
			}
		}
		p := s.Properties[name]
		errs = append(errs, validateProps(&p, path.Child("properties").Key(name), sub)...)
	}
	errs = append(errs, validateProps(s.Not, path.Child("not"), below)...)
	for _, list := range [...]struct {
		name  string
		items []apiextensions.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"anyOf", s.AnyOf}} {
		for i := range list.items {
			errs = append(errs, validateProps(&list.items[i], path.Child(list.name).Index(i), below)...)
		}
	}
	if s.Items != nil {
		errs = append(errs, validateProps(s.Items.Schema, path.Child("items"), below)...)
	}
	return append(errs, validateRuleForms(s, path)...)
}

var propTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// validateStandard returns errors for features of JSON schema that the API does not support.
func validateStandard(s *apiextensions.JSONSchemaProps, path *field.Path, place propsPlace) (errs field.ErrorList) {
	if s.Type != "" && !slices.Contains(propTypes, s.Type) {
		errs = append(errs, field.NotSupported(path.Child("type"), s.Type, propTypes))
	}
	if s.Default != nil && place.noDefaults != "" {
		errs = append(errs, field.Forbidden(path.Child("default"), "must not be set "+place.noDefaults))
	}
	for _, part := range [...]struct {
		name string
		set  bool
	}{{"id", s.ID != ""}, {"additionalItems", s.AdditionalItems != nil},
		{"patternProperties", len(s.PatternProperties) > 0},
		{"definitions", len(s.Definitions) > 0}, {"dependencies", s.Dependencies != nil}, {"$ref", s.Ref != nil}} {
		if part.set {
			errs = append(errs, field.Forbidden(path.Child(part.name), part.name+" is not supported"))
		}
	}
	if s.Type == "null" {
		errs = append(errs, field.Forbidden(path.Child("type"),
			"type cannot be set to null, use nullable as an alternative"))
	}
	if s.Items != nil && len(s.Items.JSONSchemas) > 0 {
		errs = append(errs, field.Forbidden(path.Child("items"), "items must be a schema object and not an array"))
	}
	if place.meta && s.XEmbeddedResource {
		errs = append(errs, field.Forbidden(path.Child("x-kubernetes-embedded-resource"),
			"must not be used inside of resource meta"))
	}
	if s.UniqueItems {
		errs = append(errs, field.Forbidden(path.Child("uniqueItems"),
			"uniqueItems cannot be set to true since the runtime complexity becomes quadratic"))
	}
	return errs
}

func validateExtensions(s *apiextensions.JSONSchemaProps, path *field.Path) (errs field.ErrorList) {
	must := func(kind, extension string) {
		msg := "must be " + kind + " if " + extension + " is specified"
		switch {
		case s.Type == "":
			errs = append(errs, field.Required(path.Child("type"), msg))
		case s.Type != kind:
			errs = append(errs, field.Invalid(path.Child("type"), s.Type, msg))
		}
	}
	if p := s.XPreserveUnknownFields; p != nil && !*p {
		errs = append(errs, field.Invalid(path.Child("x-kubernetes-preserve-unknown-fields"), *p,
			"must be true or undefined"))
	}
	if s.XMapType != nil {
		must("object", "x-kubernetes-map-type")
		if *s.XMapType != "atomic" && *s.XMapType != "granular" {
			errs = append(errs, field.NotSupported(path.Child("x-kubernetes-map-type"), *s.XMapType,
				[]string{"atomic", "granular"}))
		}
	}
	if s.XListType != nil {
		must("array", "x-kubernetes-list-type")
		if s.Type == "array" && *s.XListType == "set" {
			errs = append(errs, validateSetItems(s, path)...)
		}
		if !slices.Contains([]string{"atomic", "set", "map"}, *s.XListType) {
			errs = append(errs, field.NotSupported(path.Child("x-kubernetes-list-type"), *s.XListType,
				[]string{"atomic", "set", "map"}))
		}
	}
	return append(errs, validateListMap(s, path)...)
}

func validateSetItems(s *apiextensions.JSONSchemaProps, path *field.Path) field.ErrorList {
	if s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	const msg = "must be atomic as item of a list with x-kubernetes-list-type=set"
	switch item, at := s.Items.Schema, path.Child("items"); {
	case item.Type == "array" && item.XListType != nil && *item.XListType != "atomic":
		return field.ErrorList{field.Invalid(at.Child("x-kubernetes-list-type"), item.XListType, msg)}
	case item.Type == "object" && (item.XMapType == nil || *item.XMapType != "atomic"):
		return field.ErrorList{field.Invalid(at.Child("x-kubernetes-map-type"), item.XListType, msg)}
	}
	return nil
}

func validateListMap(s *apiextensions.JSONSchemaProps, path *field.Path) (errs field.ErrorList) {
	kind, keys := "", path.Child("x-kubernetes-list-map-keys")
	if s.XListType != nil {
		kind = *s.XListType
	}
	if len(s.XListMapKeys) > 0 && kind != "map" {
		const msg = "must be map if x-kubernetes-list-map-keys is non-empty"
		if s.XListType == nil {
			errs = append(errs, field.Required(path.Child("x-kubernetes-list-type"), msg))
		} else {
			errs = append(errs, field.Invalid(path.Child("x-kubernetes-list-type"), kind, msg))
		}
	}
	if kind == "map" && len(s.XListMapKeys) == 0 {
		errs = append(errs, field.Required(keys, "must not be empty if x-kubernetes-list-type is map"))
	}
	if kind == "map" && s.Items == nil {
		errs = append(errs, field.Required(path.Child("items"), "must have a schema if x-kubernetes-list-type is map"))
	}
	if s.Items == nil || s.Items.Schema == nil || kind != "map" && kind != "set" {
		return errs
	}
	item, at := s.Items.Schema, path.Child("items")
	if kind == "map" && item.Type != "object" {
		errs = append(errs, field.Invalid(at.Child("type"), item.Type,
			"must be object if parent array's x-kubernetes-list-type is map"))
	} else if kind == "map" {
		errs = append(errs, validateListKeys(s, item, path)...)
	}
	if item.Nullable {
		errs = append(errs, field.Forbidden(at.Child("nullable"),
			"cannot be nullable when x-kubernetes-list-type is "+kind))
	}
	if kind == "set" {
		return errs
	}
	for _, key := range s.XListMapKeys {
		p, ok := item.Properties[key]
		if ok && !slices.Contains(item.Required, key) && p.Default == nil {
			errs = append(errs, field.Required(at.Child("properties").Key(key).Child("default"),
				"this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"))
		}
		if ok && p.Nullable {
			errs = append(errs, field.Forbidden(at.Child("properties").Key(key).Child("nullable"),
				"this property is in x-kubernetes-list-map-keys, so it cannot be nullable"))
		}
	}
	return errs
}

func validateListKeys(s, item *apiextensions.JSONSchemaProps, path *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for _, key := range s.XListMapKeys {
		p, ok := item.Properties[key]
		switch {
		case !ok:
			errs = append(errs, field.Invalid(path.Child("x-kubernetes-list-map-keys"), s.XListMapKeys,
				"entries must all be names of item properties"))
		case p.Type == "array" || p.Type == "object":
			errs = append(errs, field.Invalid(path.Child("items").Child("properties").Key(key).Child("type"), item.Type,
				"must be a scalar type if parent array's x-kubernetes-list-type is map"))
		}
		if seen[key] {
			errs = append(errs, field.Invalid(path.Child("x-kubernetes-list-map-keys"), s.XListMapKeys,
				"must not contain duplicate entries"))
		}
		seen[key] = true
	}
	return errs
}

var lineBreak = regexp.MustCompile(`[\n\r]+`)

func validateRuleForms(s *apiextensions.JSONSchemaProps, path *field.Path) (errs field.ErrorList) {
	for i := range s.XValidations {
		r, at := &s.XValidations[i], path.Child("x-kubernetes-validations").Index(i)
		rule, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
		switch {
		case rule == "":
			errs = append(errs, field.Required(at.Child("rule"), "rule is not specified"))
		case r.Message != "" && message == "":
			errs = append(errs, field.Invalid(at.Child("message"), r.Message, "must be non-empty if specified"))
		case lineBreak.MatchString(message):
			errs = append(errs, field.Invalid(at.Child("message"), r.Message, "must not contain line breaks"))
		case lineBreak.MatchString(rule) && message == "":
			errs = append(errs, field.Required(at.Child("message"),
				"message must be specified if rule contains line breaks"))
		}
		if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
			errs = append(errs, field.Required(at.Child("messageExpression"),
				"messageExpression must be non-empty if specified"))
		}
		if r.Reason != nil && !slices.Contains(ruleReasons, string(*r.Reason)) {
			errs = append(errs, field.NotSupported(at.Child("reason"), *r.Reason, ruleReasons))
		}
		if r.FieldPath != "" && strings.TrimSpace(r.FieldPath) == "" {
			errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must be non-empty if specified"))
		}
		if lineBreak.MatchString(r.FieldPath) {
			errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must not contain line breaks"))
		}
		if r.FieldPath != "" && !leads(s, r.FieldPath) {
			errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must be a valid path"))
		}
	}
	return errs
}

// leads reports whether a path such as ".spec.a" names a field of a schema. It is true if the schema is not structural.
func leads(s *apiextensions.JSONSchemaProps, path string) bool {
	ss, err := structural.NewStructural(s)
	if err != nil {
		return true
	}
	_, _, err = cel.ValidFieldPath(path, ss)
	return err == nil
}

var ruleReasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// eachProps calls f for a schema and for all schemas inside of it (of fields, items and so on), in a fixed order.
func eachProps(s *apiextensions.JSONSchemaProps, f func(*apiextensions.JSONSchemaProps)) {
	if s == nil {
		return
	}
	f(s)
	lists := [...][]apiextensions.JSONSchemaProps{nil, s.AllOf, s.AnyOf, s.OneOf}
	if s.Items != nil {
		eachProps(s.Items.Schema, f)
		lists[0] = s.Items.JSONSchemas
	}
	for _, list := range lists {
		for i := range list {
			eachProps(&list[i], f)
		}
	}
	eachProps(s.Not, f)
	for _, parts := range [...]map[string]apiextensions.JSONSchemaProps{s.Properties, s.PatternProperties,
		s.Definitions} {
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			p := parts[name]
			eachProps(&p, f)
		}
	}
	for _, more := range [...]*apiextensions.JSONSchemaPropsOrBool{s.AdditionalProperties, s.AdditionalItems} {
		if more != nil {
			eachProps(more.Schema, f)
		}
	}
}
