package crd

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

func validateDefinitionSpec(s *apiextensions.CustomResourceDefinitionSpec, was *past,
	path *field.Path) (errs field.ErrorList) {
	if s.Group == "" {
		errs = append(errs, field.Required(path.Child("group"), ""))
	} else if msgs := utilvalidation.IsDNS1123Subdomain(s.Group); len(msgs) > 0 {
		errs = append(errs, field.Invalid(path.Child("group"), s.Group, strings.Join(msgs, ",")))
	} else if !strings.Contains(s.Group, ".") {
		errs = append(errs, field.Invalid(path.Child("group"), s.Group, "should be a domain with at least one dot"))
	}
	errs = append(errs, validation.OneOf(s.Scope, path.Child("scope"), apiextensions.ClusterScoped,
		apiextensions.NamespaceScoped)...)
	if s.Validation == nil || s.Validation.OpenAPIV3Schema == nil {
		for i, v := range s.Versions {
			if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
				errs = append(errs, field.Required(path.Child("versions").Index(i).Child("schema", "openAPIV3Schema"),
					""))
			}
		}
	}
	preserves := s.PreserveUnknownFields == nil || *s.PreserveUnknownFields
	if preserves && hasDefaults(s) {
		errs = append(errs, field.Invalid(path.Child("preserveUnknownFields"), true,
			"must be false in order to use defaults in the schema"))
	}
	errs = append(errs, validateVersions(s, was, path)...)
	names := path.Child("names")
	for _, n := range [...]struct{ name, value string }{{"plural", s.Names.Plural}, {"singular", s.Names.Singular},
		{"kind", s.Names.Kind}, {"listKind", s.Names.ListKind}} {
		if n.value == "" {
			errs = append(errs, field.Required(names.Child(n.name), ""))
		}
	}
	errs = append(errs, validateNames(&s.Names, names)...)
	status := s.Subresources != nil && s.Subresources.Status != nil
	for _, v := range s.Versions {
		status = status || v.Subresources != nil && v.Subresources.Status != nil
	}
	errs = append(errs, validateSchema(s.Validation, was, status, path.Child("validation"))...)
	errs = append(errs, validateSubresources(s.Subresources, path.Child("subresources"))...)
	for i := range s.AdditionalPrinterColumns {
		errs = append(errs, validateColumn(&s.AdditionalPrinterColumns[i],
			path.Child("additionalPrinterColumns").Index(i))...)
	}
	if len(s.SelectableFields) > 0 {
		if s.Validation == nil {
			errs = append(errs, field.Invalid(path.Child("selectableFields"), "",
				"may only be set when validations.schema is included"))
		} else {
			errs = append(errs, validateSelectable(s.SelectableFields, s.Validation.OpenAPIV3Schema, path)...)
		}
	}
	if preserves && s.Conversion != nil && s.Conversion.Strategy != apiextensions.NoneConverter {
		errs = append(errs, field.Invalid(path.Child("conversion", "strategy"), s.Conversion.Strategy,
			"must be None if spec.preserveUnknownFields is true"))
	}
	return append(errs, validateConversion(s.Conversion, path.Child("conversion"))...)
}

func validateVersions(s *apiextensions.CustomResourceDefinitionSpec, was *past,
	path *field.Path) (errs field.ErrorList) {
	seen, stores, unique := map[string]bool{}, 0, true
	for i := range s.Versions {
		v, at := &s.Versions[i], path.Child("versions").Index(i)
		if v.Storage {
			stores++
		}
		unique = unique && !seen[v.Name]
		seen[v.Name] = true
		if msgs := utilvalidation.IsDNS1035Label(v.Name); len(msgs) > 0 {
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, strings.Join(msgs, ",")))
		}
		errs = append(errs, validateVersion(s, v, was, at)...)
	}
	if !unique {
		errs = append(errs, field.Invalid(path.Child("versions"), s.Versions, "must contain unique version names"))
	}
	if stores != 1 {
		errs = append(errs, field.Invalid(path.Child("versions"), s.Versions,
			"must have exactly one version marked as storage version"))
	}
	if s.Version != "" {
		if msgs := utilvalidation.IsDNS1035Label(s.Version); len(msgs) > 0 {
			errs = append(errs, field.Invalid(path.Child("version"), s.Version, strings.Join(msgs, ",")))
		}
	}
	return errs
}

func validateVersion(s *apiextensions.CustomResourceDefinitionSpec, v *apiextensions.CustomResourceDefinitionVersion,
	was *past, path *field.Path) (errs field.ErrorList) {
	for _, msg := range badWarning(v.Deprecated, v.DeprecationWarning) {
		errs = append(errs, field.Invalid(path.Child("deprecationWarning"), v.DeprecationWarning, msg))
	}
	sub := v.Subresources
	if s.Subresources != nil {
		sub = s.Subresources
	}
	errs = append(errs, validateSchema(v.Schema, was, sub != nil && sub.Status != nil, path.Child("schema"))...)
	errs = append(errs, validateSubresources(v.Subresources, path.Child("subresources"))...)
	for i := range v.AdditionalPrinterColumns {
		errs = append(errs, validateColumn(&v.AdditionalPrinterColumns[i],
			path.Child("additionalPrinterColumns").Index(i))...)
	}
	if len(v.SelectableFields) > 0 {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			errs = append(errs, field.Invalid(path.Child("selectableFields"), "",
				"may only be set when `version.schema.openAPIV3Schema` is not included"))
		} else {
			errs = append(errs, validateSelectable(v.SelectableFields, v.Schema.OpenAPIV3Schema, path)...)
		}
	}
	return errs
}

func badWarning(deprecated bool, warning *string) (msgs []string) {
	switch {
	case warning == nil:
		return nil
	case !deprecated:
		return []string{"can only be set for deprecated versions"}
	}
	if len(*warning) > 256 {
		msgs = append(msgs, "must be <= 256 characters long")
	}
	if *warning == "" {
		msgs = append(msgs, "must not be an empty string")
	}
	for i, r := range *warning {
		if !unicode.IsPrint(r) {
			msgs = append(msgs, fmt.Sprintf(
				"must only contain printable UTF-8 characters; non-printable character found at index %d", i))
			break
		}
	}
	if !utf8.ValidString(*warning) {
		msgs = append(msgs, "must only contain printable UTF-8 characters")
	}
	return msgs
}

func validateConversion(c *apiextensions.CustomResourceConversion, path *field.Path) (errs field.ErrorList) {
	if c == nil {
		return nil
	}
	errs = validation.OneOf(c.Strategy, path.Child("strategy"), apiextensions.NoneConverter,
		apiextensions.WebhookConverter)
	if c.Strategy == apiextensions.WebhookConverter {
		return append(errs, validateConversionWebhook(c, path)...)
	}
	if c.WebhookClientConfig != nil {
		errs = append(errs, field.Forbidden(path.Child("webhookClientConfig"),
			"should not be set when strategy is not set to Webhook"))
	}
	if len(c.ConversionReviewVersions) > 0 {
		errs = append(errs, field.Forbidden(path.Child("conversionReviewVersions"),
			"should not be set when strategy is not set to Webhook"))
	}
	return errs
}

// validateConversionWebhook does not check the CA bundle: validateBundle and Establish check it.
func validateConversionWebhook(c *apiextensions.CustomResourceConversion, path *field.Path) (errs field.ErrorList) {
	at := path.Child("webhookClientConfig")
	if w := c.WebhookClientConfig; w == nil {
		errs = append(errs, field.Required(at, "required when strategy is set to Webhook"))
	} else {
		client := &admissionv1.WebhookClientConfig{URL: w.URL}
		if s := w.Service; s != nil {
			client.Service = &admissionv1.ServiceReference{Namespace: s.Namespace, Name: s.Name, Path: s.Path,
				Port: &s.Port}
		}
		errs = append(errs, validation.WebhookClient(client, at)...)
	}
	return append(errs, validation.ReviewVersions(c.ConversionReviewVersions, path.Child("conversionReviewVersions"),
		"")...)
}

// maxSelectable is the maximum number of selectable fields of a version.
const maxSelectable = 8

func validateSelectable(list []apiextensions.SelectableField, props *apiextensions.JSONSchemaProps,
	path *field.Path) (errs field.ErrorList) {
	s, err := structural.NewStructural(props)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("schema.openAPIV3Schema"), "", err.Error()))
	}
	seen := map[string]bool{}
	for i := range list {
		at, text := path.Child("selectableFields").Index(i).Child("jsonPath"), list[i].JSONPath
		if text == "" {
			errs = append(errs, field.Required(at, ""))
			continue
		}
		found, err := followPath(s, text)
		if err != nil {
			errs = append(errs, field.Invalid(at, text, "is an invalid path: "+err.Error()))
			continue
		}
		if crdschema.Steps(text)[0] == "metadata" {
			errs = append(errs, field.Invalid(at, text, "must not point to fields in metadata"))
		}
		if found.Type != "string" && found.Type != "boolean" && found.Type != "integer" {
			errs = append(errs, field.Invalid(at, text,
				"must point to a field of type string, boolean or integer. Enum string fields and strings with "+
					"formats are allowed."))
		}
		if seen[text] {
			errs = append(errs, field.Duplicate(at, text))
		}
		seen[text] = true
	}
	if len(seen) > maxSelectable {
		errs = append(errs, field.TooMany(path.Child("selectableFields"), len(seen), maxSelectable))
	}
	return errs
}

func followPath(s *structural.Structural, path string) (*structural.Structural, error) {
	if strings.Contains(path, "[") {
		return nil, fmt.Errorf("array notation is not allowed")
	}
	if !strings.HasPrefix(path, ".") {
		first, _, _ := strings.Cut(path, ".")
		return nil, fmt.Errorf("expected [ or . but got: %s", first)
	}
	for _, step := range crdschema.Steps(path) {
		if step == "" {
			return nil, fmt.Errorf("unexpected end of JSON path")
		}
		if s = crdschema.Property(s, step); s == nil {
			return nil, fmt.Errorf("does not refer to a valid field")
		}
	}
	return s, nil
}
