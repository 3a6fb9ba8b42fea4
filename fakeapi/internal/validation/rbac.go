package validation

import (
	rbacv1 "k8s.io/api/rbac/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Role checks a role's rules.
func Role(r *rbacv1.Role) (errs field.ErrorList) {
	for i := range r.Rules {
		errs = append(errs, validatePolicyRule(&r.Rules[i], true, field.NewPath("rules").Index(i))...)
	}
	return errs
}

// ClusterRole checks a cluster role's rules and what it is put together of.
func ClusterRole(r *rbacv1.ClusterRole) (errs field.ErrorList) {
	for i := range r.Rules {
		errs = append(errs, validatePolicyRule(&r.Rules[i], false, field.NewPath("rules").Index(i))...)
	}
	if r.AggregationRule == nil {
		return errs
	}
	path := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(r.AggregationRule.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(path,
			"at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	for i := range r.AggregationRule.ClusterRoleSelectors {
		one := &r.AggregationRule.ClusterRoleSelectors[i]
		errs = append(errs, metav1validation.ValidateLabelSelector(one,
			metav1validation.LabelSelectorValidationOptions{}, path.Index(i))...)
		if s, err := metav1.LabelSelectorAsSelector(one); err != nil {
			errs = append(errs, field.Invalid(path.Index(i), s, "invalid label selector."))
		}
	}
	return errs
}

func validatePolicyRule(r *rbacv1.PolicyRule, namespaced bool, path *field.Path) (errs field.ErrorList) {
	if len(r.Verbs) == 0 {
		errs = append(errs, field.Required(path.Child("verbs"), "verbs must contain at least one value"))
	}
	if len(r.NonResourceURLs) > 0 {
		if namespaced {
			errs = append(errs, field.Invalid(path.Child("nonResourceURLs"), r.NonResourceURLs,
				"namespaced rules cannot apply to non-resource URLs"))
		}
		if len(r.APIGroups)+len(r.Resources)+len(r.ResourceNames) > 0 {
			errs = append(errs, field.Invalid(path.Child("nonResourceURLs"), r.NonResourceURLs,
				"rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if len(r.APIGroups) == 0 {
		errs = append(errs, field.Required(path.Child("apiGroups"),
			"resource rules must supply at least one api group"))
	}
	if len(r.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"),
			"resource rules must supply at least one resource"))
	}
	return errs
}

// RoleBinding checks what role is bound to whom.
func RoleBinding(b *rbacv1.RoleBinding) field.ErrorList {
	return validateBinding(&b.RoleRef, b.Subjects, "Role", "ClusterRole")
}

// RoleBindingUpdate checks that the role stays the same.
func RoleBindingUpdate(b, old *rbacv1.RoleBinding) field.ErrorList {
	return sameRole(b.RoleRef, old.RoleRef)
}

// ClusterRoleBinding checks what cluster role is bound to whom.
func ClusterRoleBinding(b *rbacv1.ClusterRoleBinding) field.ErrorList {
	return validateBinding(&b.RoleRef, b.Subjects, "ClusterRole")
}

// ClusterRoleBindingUpdate checks that the role stays the same.
func ClusterRoleBindingUpdate(b, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	return sameRole(b.RoleRef, old.RoleRef)
}

func sameRole(ref, old rbacv1.RoleRef) field.ErrorList {
	if ref == old {
		return nil
	}
	// Shown with the names that the fields have in the real server.
	shown := struct{ APIGroup, Kind, Name string }{ref.APIGroup, ref.Kind, ref.Name}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), shown, "cannot change roleRef")}
}

// validateBinding checks a binding to a role of one of some kinds: of the first,
// which has a namespace, only bindings in a namespace.
func validateBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject, kinds ...string) (errs field.ErrorList) {
	path := field.NewPath("roleRef")
	if ref.APIGroup != rbacv1.GroupName {
		errs = append(errs, field.NotSupported(path.Child("apiGroup"), ref.APIGroup, []string{rbacv1.GroupName}))
	}
	if !oneOf(ref.Kind, kinds) {
		errs = append(errs, field.NotSupported(path.Child("kind"), ref.Kind, kinds))
	}
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else {
		for _, msg := range metadata.PathSegment(ref.Name, false) {
			errs = append(errs, field.Invalid(path.Child("name"), ref.Name, msg))
		}
	}
	for i := range subjects {
		errs = append(errs, validateSubject(&subjects[i], len(kinds) > 1, field.NewPath("subjects").Index(i))...)
	}
	return errs
}

func validateSubject(s *rbacv1.Subject, namespaced bool, path *field.Path) (errs field.ErrorList) {
	if s.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		if s.Name != "" {
			for _, msg := range apivalidation.ValidateServiceAccountName(s.Name, false) {
				errs = append(errs, field.Invalid(path.Child("name"), s.Name, msg))
			}
		}
		if s.APIGroup != "" {
			errs = append(errs, field.NotSupported(path.Child("apiGroup"), s.APIGroup, []string{""}))
		}
		if !namespaced && s.Namespace == "" {
			errs = append(errs, field.Required(path.Child("namespace"), ""))
		}
	case rbacv1.UserKind, rbacv1.GroupKind:
		if s.APIGroup != rbacv1.GroupName {
			errs = append(errs, field.NotSupported(path.Child("apiGroup"), s.APIGroup, []string{rbacv1.GroupName}))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("kind"), s.Kind,
			[]string{rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind}))
	}
	return errs
}
