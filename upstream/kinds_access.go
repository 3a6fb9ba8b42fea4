package upstream

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

// The kinds of who may do what, and what is asked before.
func accessKinds() []*strategy {
	policy := validatingadmissionpolicy.NewStrategy(nil, nil)
	return []*strategy{
		of(admissionv1.SchemeGroupVersion, "MutatingAdmissionPolicy", mutatingadmissionpolicy.NewStrategy(nil, nil)),
		of(admissionv1.SchemeGroupVersion, "MutatingAdmissionPolicyBinding",
			mutatingadmissionpolicybinding.NewStrategy(nil, nil, unresolved)),
		of(admissionv1.SchemeGroupVersion, "MutatingWebhookConfiguration", mutatingwebhookconfiguration.Strategy),
		of(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicy", policy).
			through("status", validatingadmissionpolicy.NewStatusStrategy(policy)),
		of(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicyBinding",
			validatingadmissionpolicybinding.NewStrategy(nil, nil, unresolved)),
		of(admissionv1.SchemeGroupVersion, "ValidatingWebhookConfiguration", validatingwebhookconfiguration.Strategy),
		of(certificatesv1.SchemeGroupVersion, "CertificateSigningRequest", certificates.Strategy).
			through("status", certificates.StatusStrategy).through("approval", certificates.ApprovalStrategy),
		of(flowcontrolv1.SchemeGroupVersion, "FlowSchema", flowschema.Strategy).
			through("status", flowschema.StatusStrategy),
		of(flowcontrolv1.SchemeGroupVersion, "PriorityLevelConfiguration", prioritylevelconfiguration.Strategy).
			through("status", prioritylevelconfiguration.StatusStrategy),
		of(rbacv1.SchemeGroupVersion, "ClusterRole", clusterrole.Strategy),
		of(rbacv1.SchemeGroupVersion, "ClusterRoleBinding", clusterrolebinding.Strategy),
		of(rbacv1.SchemeGroupVersion, "Role", role.Strategy),
		of(rbacv1.SchemeGroupVersion, "RoleBinding", rolebinding.Strategy),
	}
}

// unresolved is the resolver of resources that a binding's strategy insists on. It is for
// an authorizer to ask, and everybody may do everything.
var unresolved = resolver.ResourceResolverFunc(func(gvk schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	panic("upstream: nobody authorizes, and the resource of " + gvk.String() + " was asked for")
})
