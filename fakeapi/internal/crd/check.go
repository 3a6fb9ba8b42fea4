package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// internalDefinition is a definition in the form that the real server
// validates: what all versions have in common stands above them. Messages
// show that form.
func internalDefinition(d *Definition) *apiextensions.CustomResourceDefinition {
	in := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d, in,
		nil); err != nil {
		panic("fakeapi: a decoded definition does not convert: " + err.Error())
	}
	return in
}

// Validate checks a new definition.
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

// validatePreserving: schemas say what is kept, and not the whole definition.
func validatePreserving(in *apiextensions.CustomResourceDefinition) (errs field.ErrorList) {
	if p := in.Spec.PreserveUnknownFields; p != nil && *p {
		errs = append(errs, field.Invalid(specPath.Child("preserveUnknownFields"), p,
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"))
	}
	return errs
}

// ValidateUpdate checks a change: names and scope are for ever once they are in force.
func ValidateUpdate(d, old *Definition) field.ErrorList {
	in, was := internalDefinition(d), internalDefinition(old)
	errs := apivalidation.ValidateObjectMetaUpdate(&in.ObjectMeta, &was.ObjectMeta, metadata.Path)
	errs = append(errs, validateDefinitionSpec(&in.Spec, pastOf(&was.Spec), specPath)...)
	if Established(old) {
		errs = append(errs, validateBundle(&in.Spec, &was.Spec)...)
	}
	if Established(old) {
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

// validateBundle: a webhook that could be called stays one.
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

// ValidateStatus checks a write to the status.
func ValidateStatus(d, old *Definition) field.ErrorList {
	in := internalDefinition(d)
	errs := apivalidation.ValidateObjectMetaUpdate(&d.ObjectMeta, &old.ObjectMeta, metadata.Path)
	return append(errs, validateNames(&in.Status.AcceptedNames, statusPath.Child("acceptedNames"))...)
}

// validateStoredVersions: objects may be stored in no version that is not there.
func validateStoredVersions(d *apiextensions.CustomResourceDefinition) (errs field.ErrorList) {
	have, path := d.Status.StoredVersions, statusPath.Child("storedVersions")
	if len(have) == 0 {
		return field.ErrorList{field.Invalid(path, have, "must have at least one stored version")}
	}
	named := map[string]bool{}
	for _, v := range d.Spec.Versions {
		// The second version of a name finds its name taken.
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

// validateNames checks what names look like; "" is checked elsewhere.
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

// validateApproval guards the groups of the project itself.
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

// eachSchema calls f for the schema of a definition, or for those of its versions.
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
