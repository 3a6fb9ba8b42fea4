package registry

import (
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Roles and their bindings: nothing here is authorized by them.
var (
	roles = goType[rbacv1.Role, rbacv1.RoleList](&Kind{
		GVK: rbacv1.SchemeGroupVersion.WithKind("Role"), Resource: "roles", Singular: "role",
		Namespaced: true, CreateOnUpdate: true,
		strategy: strategy{
			NameRule: metadata.PathSegment, ValidateCreate: Check(validation.Role),
			Canonicalize: On(func(r *rbacv1.Role) { r.Rules = orNil(r.Rules) }),
			Main: Update{Validate: again(validation.Role),
				again: checks{onCreate}, after: checks{onUpdate}},
		},
	})
	clusterRoles = goType[rbacv1.ClusterRole, rbacv1.ClusterRoleList](&Kind{
		GVK: rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), Resource: "clusterroles", Singular: "clusterrole",
		CreateOnUpdate: true,
		strategy: strategy{
			NameRule: metadata.PathSegment, ValidateCreate: Check(validation.ClusterRole),
			Canonicalize: On(func(r *rbacv1.ClusterRole) { r.Rules = orNil(r.Rules) }),
			Main: Update{Validate: again(validation.ClusterRole),
				again: checks{onCreate}, after: checks{onUpdate}},
		},
	})
	roleBindings = goType[rbacv1.RoleBinding, rbacv1.RoleBindingList](&Kind{
		GVK: rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), Resource: "rolebindings", Singular: "rolebinding",
		Namespaced: true, CreateOnUpdate: true,
		Default: On(func(b *rbacv1.RoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) }),
		strategy: strategy{
			NameRule: metadata.PathSegment, ValidateCreate: Check(validation.RoleBinding),
			Main: Update{Validate: again(validation.RoleBinding), again: checks{onCreate},
				after: checks{onUpdate}, Last: Compare(validation.RoleBindingUpdate)},
		},
	})
	clusterRoleBindings = goType[rbacv1.ClusterRoleBinding, rbacv1.ClusterRoleBindingList](&Kind{
		GVK:      rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"),
		Resource: "clusterrolebindings", Singular: "clusterrolebinding", CreateOnUpdate: true,
		Default: On(func(b *rbacv1.ClusterRoleBinding) { defaultBinding(&b.RoleRef, b.Subjects) }),
		strategy: strategy{
			NameRule: metadata.PathSegment, ValidateCreate: Check(validation.ClusterRoleBinding),
			Main: Update{Validate: again(validation.ClusterRoleBinding), again: checks{onCreate},
				after: checks{onUpdate}, Last: Compare(validation.ClusterRoleBindingUpdate)},
		},
	})
)

func defaultBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	if ref.APIGroup == "" {
		ref.APIGroup = rbacv1.GroupName
	}
	for i := range subjects {
		s := &subjects[i]
		if s.APIGroup == "" && (s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind) {
			s.APIGroup = rbacv1.GroupName
		}
	}
}
