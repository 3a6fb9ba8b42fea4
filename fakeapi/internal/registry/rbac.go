package registry

import (
	rbacv1 "k8s.io/api/rbac/v1"
	rbacdefaults "k8s.io/kubernetes/pkg/apis/rbac/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Roles and their bindings: nothing here is authorized by them.
var (
	roles = goType[rbacv1.Role, rbacv1.RoleList](&Kind{
		GVK: rbacv1.SchemeGroupVersion.WithKind("Role"), Resource: "roles", Singular: "role",
		Namespaced: true, CreateOnUpdate: true,
		strategy: strategy{
			Create:       validation.Role.Create,
			Canonicalize: On(func(r *rbacv1.Role) { r.Rules = orNil(r.Rules) }),
			Main:         Update{Judge: validation.Role.Update},
		},
	})
	clusterRoles = goType[rbacv1.ClusterRole, rbacv1.ClusterRoleList](&Kind{
		GVK: rbacv1.SchemeGroupVersion.WithKind("ClusterRole"), Resource: "clusterroles", Singular: "clusterrole",
		CreateOnUpdate: true,
		strategy: strategy{
			Create:       validation.ClusterRole.Create,
			Canonicalize: On(func(r *rbacv1.ClusterRole) { r.Rules = orNil(r.Rules) }),
			Main:         Update{Judge: validation.ClusterRole.Update},
		},
	})
	roleBindings = goType[rbacv1.RoleBinding, rbacv1.RoleBindingList](&Kind{
		GVK: rbacv1.SchemeGroupVersion.WithKind("RoleBinding"), Resource: "rolebindings", Singular: "rolebinding",
		Namespaced: true, CreateOnUpdate: true,
		Default: On(rbacdefaults.SetObjectDefaults_RoleBinding),
		strategy: strategy{
			Create: validation.RoleBinding.Create,
			Main:   Update{Judge: validation.RoleBinding.Update},
		},
	})
	clusterRoleBindings = goType[rbacv1.ClusterRoleBinding, rbacv1.ClusterRoleBindingList](&Kind{
		GVK:      rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"),
		Resource: "clusterrolebindings", Singular: "clusterrolebinding", CreateOnUpdate: true,
		Default: On(rbacdefaults.SetObjectDefaults_ClusterRoleBinding),
		strategy: strategy{
			Create: validation.ClusterRoleBinding.Create,
			Main:   Update{Judge: validation.ClusterRoleBinding.Update},
		},
	})
)
