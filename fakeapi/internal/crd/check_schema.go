package crd

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// rootFields are the fields that the root of a schema may have when the kind
// has a status subresource.
var rootFields = []string{"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum",
	"ExclusiveMinimum", "MaxLength",
	"MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example",
	"XPreserveUnknownFields", "XValidations"}

// faults is what is wrong with schemas of new definitions.
var faults crdschema.Memo[field.ErrorList]

// validateSchema checks a schema: it has to be structural, with defaults that
// it accepts itself.
func validateSchema(v *apiextensions.CustomResourceValidation, was *past, status bool,
	path *field.Path) field.ErrorList {
	switch {
	case v == nil || v.OpenAPIV3Schema == nil:
		return nil
	case was != nil: // what was wrong before may stay so
		return checkSchema(v, was, status, path)
	}
	return slices.Clone(faults.Of(v, fmt.Sprint(status, path), func() field.ErrorList {
		return checkSchema(v, nil, status, path)
	}))
}

func checkSchema(v *apiextensions.CustomResourceValidation, was *past, status bool,
	path *field.Path) (errs field.ErrorList) {
	s, at := v.OpenAPIV3Schema, path.Child("openAPIV3Schema")
	if status {
		errs = append(errs, validateRoot(s, path)...)
	}
	if s.Nullable {
		errs = append(errs, field.Forbidden(path.Child("openAPIV3Schema.nullable"),
			"nullable cannot be true at the root"))
	}
	var unread field.ErrorList
	structured := false
	if ss, err := structural.NewStructural(s); err != nil {
		unread = field.ErrorList{field.Invalid(at, "", err.Error())}
	} else if bad := structural.ValidateStructural(at, ss); len(bad) > 0 {
		errs = append(errs, bad...)
	} else {
		bad, err := defaulting.ValidateDefaults(context.Background(), at, ss, true, true)
		if err != nil {
			bad = field.ErrorList{field.Invalid(at, "", err.Error())}
		}
		errs, structured = append(errs, crdschema.Sorted(bad)...), len(bad) == 0
	}
	bad := validateProps(s, at, propsPlace{root: true})
	errs = append(errs, bad...)
	if structured {
		errs = append(errs, checkRules(s, at, was, bad)...)
	}
	if len(errs) == 0 {
		errs = unread
	}
	return errs
}

func validateRoot(s *apiextensions.JSONSchemaProps, path *field.Path) field.ErrorList {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch {
		case v.Field(i).IsZero():
		case name == "Type":
			if s.Type != "object" {
				return field.ErrorList{field.Invalid(path.Child("openAPIV3Schema.type"), s.Type,
					`only "object" is allowed as the type at the root of the schema `+
						`if the status subresource is enabled`)}
			}
		case !slices.Contains(rootFields, name):
			return field.ErrorList{field.Invalid(path.Child("openAPIV3Schema"), *s,
				fmt.Sprintf("only %v fields are allowed at the root of the schema if the status subresource is enabled",
					rootFields))}
		}
	}
	return nil
}

func validateSubresources(s *apiextensions.CustomResourceSubresources, path *field.Path) (errs field.ErrorList) {
	if s == nil || s.Scale == nil {
		return nil
	}
	under := func(name, text string, must bool, shown any, where string, roots ...string) {
		at := path.Child("scale." + name)
		if text == "" {
			if must {
				errs = append(errs, field.Required(at, ""))
			}
			return
		}
		if bad := simplePath(text, at); bad != nil {
			errs = append(errs, bad)
			return
		}
		if !slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(text, root) }) {
			errs = append(errs, field.Invalid(at, shown, "should be a json path under "+where))
		}
	}
	under("specReplicasPath", s.Scale.SpecReplicasPath, true, s.Scale.SpecReplicasPath, ".spec", ".spec.")
	under("statusReplicasPath", s.Scale.StatusReplicasPath, true, s.Scale.StatusReplicasPath, ".status", ".status.")
	if p := s.Scale.LabelSelectorPath; p != nil {
		under("labelSelectorPath", *p, false, p, "either .spec or .status", ".spec.", ".status.")
	}
	return errs
}

func simplePath(text string, at *field.Path) *field.Error {
	if text[0] != '.' {
		return field.Invalid(at, text, "must be a simple json path starting with .")
	}
	return nil
}

var (
	columnTypes   = []string{"boolean", "date", "integer", "number", "string"}
	columnFormats = []string{"byte", "date", "date-time", "double", "float", "int32", "int64", "password"}
)

func validateColumn(c *apiextensions.CustomResourceColumnDefinition, path *field.Path) (errs field.ErrorList) {
	if c.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	switch must := "must be one of " + strings.Join(columnTypes, ","); {
	case c.Type == "":
		errs = append(errs, field.Required(path.Child("type"), must))
	case !slices.Contains(columnTypes, c.Type):
		errs = append(errs, field.Invalid(path.Child("type"), c.Type, must))
	}
	if c.Format != "" && !slices.Contains(columnFormats, c.Format) {
		errs = append(errs, field.Invalid(path.Child("format"), c.Format,
			"must be one of "+strings.Join(columnFormats, ",")))
	}
	if c.JSONPath == "" {
		errs = append(errs, field.Required(path.Child("JSONPath"), ""))
	} else if bad := simplePath(c.JSONPath, path.Child("JSONPath")); bad != nil {
		errs = append(errs, bad)
	}
	return errs
}

// UnknownFormats warns of formats that count for nothing, except those that
// the old definition had.
func UnknownFormats(d, old *Definition) (warnings []string) {
	had := map[string]bool{}
	if old != nil {
		for _, f := range formatsOf(old) {
			had[f] = true
		}
	}
	for _, f := range formatsOf(d) {
		if !had[f] {
			warnings = append(warnings, fmt.Sprintf("unrecognized format %q", f))
		}
	}
	return warnings
}

func formatsOf(d *Definition) (unknown []string) {
	eachSchema(&internalDefinition(d).Spec, func(s *apiextensions.JSONSchemaProps, _ *field.Path) {
		eachProps(s, func(p *apiextensions.JSONSchemaProps) {
			unknown = append(unknown, validation.GetUnrecognizedFormats(&spec.Schema{SchemaProps: spec.SchemaProps{
				Format: p.Format, Type: []string{p.Type}}}, environment.DefaultCompatibilityVersion())...)
		})
	})
	return unknown
}
