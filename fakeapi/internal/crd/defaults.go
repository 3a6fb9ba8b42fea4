package crd

import "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"

// hasDefaults says whether some schema of a definition has a default.
func hasDefaults(s *apiextensions.CustomResourceDefinitionSpec) bool {
	if s.Validation != nil && anyDefault(s.Validation.OpenAPIV3Schema) {
		return true
	}
	for i := range s.Versions {
		if v := s.Versions[i].Schema; v != nil && anyDefault(v.OpenAPIV3Schema) {
			return true
		}
	}
	return false
}

// anyDefault looks for a default in a schema and in all that it is made of.
func anyDefault(s *apiextensions.JSONSchemaProps) bool {
	if s == nil || s.Default != nil {
		return s != nil
	}
	found := anyDefault(s.Not)
	for _, list := range [...][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			found = found || anyDefault(&list[i])
		}
	}
	if s.Items != nil {
		found = found || anyDefault(s.Items.Schema)
		for i := range s.Items.JSONSchemas {
			found = found || anyDefault(&s.Items.JSONSchemas[i])
		}
	}
	for _, more := range [...]*apiextensions.JSONSchemaPropsOrBool{s.AdditionalProperties, s.AdditionalItems} {
		found = found || more != nil && anyDefault(more.Schema)
	}
	for _, named := range [...]map[string]apiextensions.JSONSchemaProps{s.Properties, s.PatternProperties,
		s.Definitions} {
		for _, p := range named { //detcheck:ordered any will do
			if anyDefault(&p) {
				return true
			}
		}
	}
	return found
}
