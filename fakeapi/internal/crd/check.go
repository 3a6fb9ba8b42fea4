package crd

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// internalDefinition converts a CRD to the internal type. Error messages name the fields of this type. If all versions
// have the same schema, subresources or columns, these are in the spec instead of the versions.
func internalDefinition(d *Definition) *apiextensions.CustomResourceDefinition {
	in := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d, in,
		nil); err != nil {
		panic("fakeapi: a decoded definition does not convert: " + err.Error())
	}
	return in
}

// Validate returns the errors in a new CRD.
func Validate(d *Definition) field.ErrorList {
	in := internalDefinition(d)
	name := func(name string, prefix bool) []string {
		errs := apivalidation.NameIsDNSSubdomain(name, prefix)
		if name != in.Spec.Names.Plural+"."+in.Spec.Group {
			errs = append(errs, `must be spec.names.plural+"."+spec.group`)
		}
		return errs
	}
	errs := apivalidation.ValidateObjectMeta(&in.ObjectMeta, false, name, metadata.Path)
	errs = append(errs, validateDefinitionSpec(&in.Spec, nil, specPath)...)
	errs = append(errs, validateNames(&in.Status.AcceptedNames, statusPath.Child("acceptedNames"))...)
	errs = append(errs, validateStoredVersions(in)...)
	errs = append(errs, validateApproval(d, nil)...)
	return append(errs, validatePreserving(in)...)
}

// validatePreserving returns an error if the CRD sets spec.preserveUnknownFields to true.
func validatePreserving(in *apiextensions.CustomResourceDefinition) (errs field.ErrorList) {
	if p := in.Spec.PreserveUnknownFields; p != nil && *p {
		errs = append(errs, field.Invalid(specPath.Child("preserveUnknownFields"), p,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// ValidateUpdate returns the errors in a changed CRD. Kind and scope may not change after the CRD is established.
func ValidateUpdate(d, old *Definition) field.ErrorList {
	in, was := internalDefinition(d), internalDefinition(old)
	errs := apivalidation.ValidateObjectMetaUpdate(&in.ObjectMeta, &was.ObjectMeta, metadata.Path)
	errs = append(errs, validateDefinitionSpec(&in.Spec, pastOf(&was.Spec), specPath)...)
	if Established(old) {
		errs = append(errs, validateBundle(&in.Spec, &was.Spec)...)
		errs = append(errs, apivalidation.ValidateImmutableField(in.Spec.Scope, was.Spec.Scope,
			specPath.Child("scope"))...)
		errs = append(errs, apivalidation.ValidateImmutableField(in.Spec.Names.Kind, was.Spec.Names.Kind,
			specPath.Child("names", "kind"))...)
	}
	errs = append(errs, apivalidation.ValidateImmutableField(in.Spec.Group, was.Spec.Group, specPath.Child("group"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(in.Spec.Names.Plural, was.Spec.Names.Plural,
		specPath.Child("names", "plural"))...)
	errs = append(errs, validateNames(&in.Status.AcceptedNames, statusPath.Child("acceptedNames"))...)
	errs = append(errs, validateStoredVersions(in)...)
	errs = append(errs, validateApproval(d, old)...)
	return append(errs, validatePreserving(in)...)
}

// validateBundle returns an error if an update makes the valid CA bundle of a conversion webhook invalid.
func validateBundle(s, was *apiextensions.CustomResourceDefinitionSpec) field.ErrorList {
	bundle := func(s *apiextensions.CustomResourceDefinitionSpec) []byte {
		if c := s.Conversion; c != nil && c.Strategy == apiextensions.WebhookConverter && c.WebhookClientConfig != nil {
			return c.WebhookClientConfig.CABundle
		}
		return nil
	}
	now := bundle(s)
	if err := badBundle(now); err != nil && badBundle(bundle(was)) == nil {
		return field.ErrorList{field.Invalid(specPath.Child("conversion", "webhookClientConfig", "caBundle"), now,
			err.Error())}
	}
	return nil
}

// ValidateStatus returns the errors in an update of the status.
func ValidateStatus(d, old *Definition) field.ErrorList {
	in := internalDefinition(d)
	errs := apivalidation.ValidateObjectMetaUpdate(&d.ObjectMeta, &old.ObjectMeta, metadata.Path)
	return append(errs, validateNames(&in.Status.AcceptedNames, statusPath.Child("acceptedNames"))...)
}

// validateStoredVersions returns an error if status.storedVersions lacks the storage version or has an unknown version.
func validateStoredVersions(d *apiextensions.CustomResourceDefinition) (errs field.ErrorList) {
	have, path := d.Status.StoredVersions, statusPath.Child("storedVersions")
	if len(have) == 0 {
		return field.ErrorList{field.Invalid(path, have, "must have at least one stored version")}
	}
	named := map[string]bool{}
	for _, v := range d.Spec.Versions {
		// a repeated name of a version is an error if the repeated version is the storage version
		if v.Storage && (named[v.Name] || !slices.Contains(have, v.Name)) {
			errs = append(errs, field.Invalid(path, have, "must have the storage version "+v.Name))
		}
		named[v.Name] = true
	}
	for i, v := range have {
		if !named[v] {
			errs = append(errs, field.Invalid(path.Index(i), v,
				fmt.Sprintf("missing from spec.versions; %[1]s was previously a storage version, and must remain in "+
					"spec.versions until a storage migration ensures no data remains persisted in %[1]s and removes "+
					"%[1]s from status.storedVersions", v)))
		}
	}
	return errs
}

func validateNames(n *apiextensions.CustomResourceDefinitionNames, path *field.Path) (errs field.ErrorList) {
	label := func(path *field.Path, shown, name, before string) {
		if msgs := utilvalidation.IsDNS1035Label(name); name != "" && len(msgs) > 0 {
			errs = append(errs, field.Invalid(path, shown, before+strings.Join(msgs, ",")))
		}
	}
	const mixed = "may have mixed case, but should otherwise match: "
	label(path.Child("plural"), n.Plural, n.Plural, "")
	label(path.Child("singular"), n.Singular, n.Singular, "")
	label(path.Child("kind"), n.Kind, strings.ToLower(n.Kind), mixed)
	label(path.Child("listKind"), n.ListKind, strings.ToLower(n.ListKind), mixed)
	list := func(path *field.Path, names []string) {
		for i, name := range names {
			if msgs := utilvalidation.IsDNS1035Label(name); len(msgs) > 0 {
				errs = append(errs, field.Invalid(path.Index(i), name, strings.Join(msgs, ",")))
			}
		}
	}
	list(path.Child("shortNames"), n.ShortNames)
	if n.Kind != "" && n.Kind == n.ListKind {
		errs = append(errs, field.Invalid(path.Child("listKind"), n.ListKind, "kind and listKind may not be the same"))
	}
	list(path.Child("categories"), n.Categories)
	return errs
}

// validateApproval returns an error if a CRD in a group of the Kubernetes project has no valid approval annotation. An
// update that does not change the state of the approval is allowed.
func validateApproval(d, old *Definition) field.ErrorList {
	if !apihelpers.IsProtectedCommunityGroup(d.Spec.Group) {
		return nil
	}
	state, reason := apihelpers.GetAPIApprovalState(d.Annotations)
	if old != nil {
		if was, _ := apihelpers.GetAPIApprovalState(old.Annotations); was == state {
			return nil
		}
	}
	path := metadata.Path.Child("annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	switch state {
	case apihelpers.APIApproved, apihelpers.APIApprovalBypassed:
		return nil
	case apihelpers.APIApprovalMissing:
		return field.ErrorList{field.Required(path, reason)}
	}
	return field.ErrorList{field.Invalid(path, d.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], reason)}
}

func eachSchema(s *apiextensions.CustomResourceDefinitionSpec, f func(*apiextensions.JSONSchemaProps, *field.Path)) {
	if s.Validation != nil && s.Validation.OpenAPIV3Schema != nil {
		f(s.Validation.OpenAPIV3Schema, specPath.Child("validation", "openAPIV3Schema"))
	}
	for i, v := range s.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			f(v.Schema.OpenAPIV3Schema, specPath.Child("versions").Index(i).Child("schema", "openAPIV3Schema"))
		}
	}
}

// rootFields lists the fields that the root of a schema may have if the status subresource is enabled.
var rootFields = []string{"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum",
	"ExclusiveMinimum", "MaxLength",
	"MinLength", "Pattern", "MaxItems", "MinItems", "UniqueItems", "MultipleOf", "Required", "Items", "Properties",
	"ExternalDocs", "Example",
	"XPreserveUnknownFields", "XValidations"}

// faults caches the errors of the schemas of new CRDs, because many servers get the same CRDs.
var faults crdschema.Memo[field.ErrorList]

// validateSchema returns an error if a schema is not structural, or if one of its defaults does not match the schema.
func validateSchema(v *apiextensions.CustomResourceValidation, was *past, status bool,
	path *field.Path) field.ErrorList {
	switch {
	case v == nil || v.OpenAPIV3Schema == nil:
		return nil
	case was != nil: // not cached: in an update, the errors in rules also depend on the old schema
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

// UnknownFormats returns warnings about unknown formats, which have no effect. It omits formats that the old CRD has.
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
