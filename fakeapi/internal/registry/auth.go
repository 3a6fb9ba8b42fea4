package registry

import (
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	rbacdefaults "k8s.io/kubernetes/pkg/apis/rbac/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// certificateRequests are only stored: nothing approves or signs them.
var certificateRequests = goType[certificatesv1.CertificateSigningRequest,
	certificatesv1.CertificateSigningRequestList](&Kind{
	GVK:      certificatesv1.SchemeGroupVersion.WithKind("CertificateSigningRequest"),
	Resource: "certificatesigningrequests", Singular: "certificatesigningrequest", ShortNames: []string{"csr"},
	Status: true,
	strategy: strategy{

		PrepareCreate: On(func(c *certificatesv1.CertificateSigningRequest) {
			c.Status = certificatesv1.CertificateSigningRequestStatus{}
		}),
		By: func(obj runtime.Object, user *authenticationv1.UserInfo) {
			s := &obj.(*certificatesv1.CertificateSigningRequest).Spec
			s.Username, s.UID, s.Groups, s.Extra = user.Username, user.UID, slices.Clone(user.Groups), nil
		},
		Create: validation.CertificateSigningRequest.Create,
		Main: Update{
			Prepare: Over(func(c, old *certificatesv1.CertificateSigningRequest) {
				c.Spec, c.Status = old.Spec, old.Status
			}),
			Judge: validation.CertificateSigningRequest.Update,
		},
		ForStatus: Update{PrepareAt: prepareCertificate, Judge: validation.CertificateSigningRequest.Status},
		other: map[string]*Update{
			"approval": {PrepareAt: prepareApproval, Judge: validation.CertificateApproval},
		},
		ResetByMain:    [][]string{{"spec"}},
		ResetByStatus:  [][]string{{"status", "conditions"}},
		SelectableKeys: []string{"spec.signerName"},
		Selectable: func(obj runtime.Object, set fields.Set) {
			set["spec.signerName"] = obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName
		},
	},
})

// prepareCertificate keeps the approval, which the signer may not change.
func prepareCertificate(obj, old runtime.Object, now time.Time) {
	c, was := obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest)
	c.Spec = was.Spec
	keepConditions(c, was, certificatesv1.CertificateApproved)
	keepConditions(c, was, certificatesv1.CertificateDenied)
	timeConditions(c, was, now)
}

func keepConditions(c, was *certificatesv1.CertificateSigningRequest, of certificatesv1.RequestConditionType) {
	have, had := conditionsOf(c, of), conditionsOf(was, of)
	if len(have) != len(had) {
		return
	}
	for i := range have {
		c.Status.Conditions[have[i]] = was.Status.Conditions[had[i]]
	}
}

func conditionsOf(c *certificatesv1.CertificateSigningRequest, of certificatesv1.RequestConditionType) (at []int) {
	for i := range c.Status.Conditions {
		if c.Status.Conditions[i].Type == of {
			at = append(at, i)
		}
	}
	return at
}

// timeConditions sets missing times of conditions to now, or to the time of the repeated condition.
func timeConditions(c, was *certificatesv1.CertificateSigningRequest, now time.Time) {
	at := metadata.Seconds(now)
	for i := range c.Status.Conditions {
		have := &c.Status.Conditions[i]
		if have.LastUpdateTime.IsZero() {
			have.LastUpdateTime = at
		}
		if !have.LastTransitionTime.IsZero() {
			continue
		}
		have.LastTransitionTime = at
		for _, old := range was.Status.Conditions {
			if old.Type == have.Type && old.Status == have.Status && !old.LastTransitionTime.IsZero() {
				have.LastTransitionTime = old.LastTransitionTime
				break
			}
		}
	}
}

// prepareApproval lets only the conditions through.
func prepareApproval(obj, old runtime.Object, now time.Time) {
	c, was := obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest)
	timeConditions(c, was, now)
	conditions := c.Status.Conditions
	c.Spec, c.Status = was.Spec, was.Status
	c.Status.Conditions = conditions
}

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
