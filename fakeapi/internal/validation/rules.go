package validation

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateRule checks which operations on which resources a webhook is called for.
func validateRule(r *admissionv1.RuleWithOperations, path *field.Path) (errs field.ErrorList) {
	at := path.Child("operations")
	if len(r.Operations) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		errs = append(errs, field.Invalid(at, r.Operations, "if '*' is present, must not specify other operations"))
	}
	for i := range r.Operations {
		errs = append(errs, among(&r.Operations[i], at.Index(i), admissionv1.OperationAll, admissionv1.Connect,
			admissionv1.Create, admissionv1.Delete, admissionv1.Update)...)
	}
	errs = append(errs, aloneOrSome(r.APIGroups, path.Child("apiGroups"), "API groups")...)
	versions := path.Child("apiVersions")
	errs = append(errs, aloneOrSome(r.APIVersions, versions, "API versions")...)
	for i, v := range r.APIVersions {
		if v == "" {
			errs = append(errs, field.Required(versions.Index(i), ""))
		}
	}
	errs = append(errs, validateRuleResources(r.Resources, path.Child("resources"))...)
	return append(errs, among(r.Scope, path.Child("scope"), admissionv1.AllScopes, admissionv1.ClusterScope,
		admissionv1.NamespacedScope)...)
}

// aloneOrSome checks that there are some, and that * is alone.
func aloneOrSome(list []string, path *field.Path, what string) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(path, "")}
	case len(list) > 1 && slices.Contains(list, "*"):
		return field.ErrorList{field.Invalid(path, list, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

func validateRuleResources(list []string, path *field.Path) (errs field.ErrorList) {
	if len(list) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	of, to := map[string]bool{}, map[string]bool{} // seen x/* and */x
	every, bare := false, false
	for i, text := range list {
		if text == "" {
			errs = append(errs, field.Required(path.Index(i), ""))
			continue
		}
		every = every || text == "*"
		resource, sub, both := strings.Cut(text, "/")
		if !both {
			bare = text != "*"
			continue
		}
		if of[resource] {
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, text)))
		}
		if to[sub] {
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, text)))
		}
		of[resource] = of[resource] || sub == "*"
		to[sub] = to[sub] || resource == "*"
	}
	if len(list) > 1 && slices.Contains(list, "*/*") {
		errs = append(errs, field.Invalid(path, list, "if '*/*' is present, must not specify other resources"))
	}
	if every && bare {
		errs = append(errs, field.Invalid(path, list,
			"if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}
