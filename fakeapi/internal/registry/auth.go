package registry

import (
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	rbacdefaults "k8s.io/kubernetes/pkg/apis/rbac/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// certificateRequests holds the rules for CertificateSigningRequests, which are stored but never approved or signed.
var certificateRequests = kind[certificatesv1.CertificateSigningRequest, certificatesv1.CertificateSigningRequestList](
	certificatesv1.SchemeGroupVersion, validation.CertificateSigningRequest, &Row{
		By: func(obj runtime.Object, user *authenticationv1.UserInfo) {
			s := &obj.(*certificatesv1.CertificateSigningRequest).Spec
			s.Username, s.UID, s.Groups, s.Extra = user.Username, user.UID, slices.Clone(user.Groups), nil
		},
		Main: Update{Prepare: Over(func(c, old *certificatesv1.CertificateSigningRequest) { c.Spec = old.Spec })},
		// a write to status cannot change the approval
		ForStatus: Update{Prepare: at(func(c, was *certificatesv1.CertificateSigningRequest, now metav1.Time) {
			keepConditions(c, was, certificatesv1.CertificateApproved)
			keepConditions(c, was, certificatesv1.CertificateDenied)
			timeConditions(c, was, now)
		})},
		// a write to approval changes only the conditions
		other: map[string]*Update{"approval": {Judge: validation.CertificateApproval,
			Prepare: at(func(c, was *certificatesv1.CertificateSigningRequest, now metav1.Time) {
				timeConditions(c, was, now)
				conditions := c.Status.Conditions
				c.Spec, c.Status = was.Spec, was.Status
				c.Status.Conditions = conditions
			})}},
		ResetByMain:    [][]any{{"spec"}},
		ResetByStatus:  [][]any{{"status", "conditions"}},
		SelectableKeys: []string{"spec.signerName"},
		Selectable: selects(func(c *certificatesv1.CertificateSigningRequest, set fields.Set) {
			set["spec.signerName"] = c.Spec.SignerName
		}),
	})

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

// timeConditions sets missing times of conditions to now. A condition with the old status keeps its transition time.
func timeConditions(c, was *certificatesv1.CertificateSigningRequest, now metav1.Time) {
	for i := range c.Status.Conditions {
		have := &c.Status.Conditions[i]
		if have.LastUpdateTime.IsZero() {
			have.LastUpdateTime = now
		}
		if !have.LastTransitionTime.IsZero() {
			continue
		}
		have.LastTransitionTime = now
		for _, old := range was.Status.Conditions {
			if old.Type == have.Type && old.Status == have.Status && !old.LastTransitionTime.IsZero() {
				have.LastTransitionTime = old.LastTransitionTime
				break
			}
		}
	}
}

// Roles and bindings are only stored. The server does not use them to authorize requests.
var (
	roles = kind[rbacv1.Role, rbacv1.RoleList](rbacv1.SchemeGroupVersion, validation.Role, &Row{
		CreateOnUpdate: true, Canonicalize: On(func(r *rbacv1.Role) { r.Rules = orNil(r.Rules) }),
	})
	clusterRoles = kind[rbacv1.ClusterRole, rbacv1.ClusterRoleList](rbacv1.SchemeGroupVersion, validation.ClusterRole,
		&Row{CreateOnUpdate: true, Canonicalize: On(func(r *rbacv1.ClusterRole) { r.Rules = orNil(r.Rules) })})
	roleBindings = kind[rbacv1.RoleBinding, rbacv1.RoleBindingList](rbacv1.SchemeGroupVersion, validation.RoleBinding,
		&Row{CreateOnUpdate: true, Default: On(rbacdefaults.SetObjectDefaults_RoleBinding)})
	clusterRoleBindings = kind[rbacv1.ClusterRoleBinding, rbacv1.ClusterRoleBindingList](rbacv1.SchemeGroupVersion,
		validation.ClusterRoleBinding,
		&Row{CreateOnUpdate: true, Default: On(rbacdefaults.SetObjectDefaults_ClusterRoleBinding)})
)
