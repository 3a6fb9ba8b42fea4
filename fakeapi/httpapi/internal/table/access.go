package table

import (
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

var (
	roleBindings = prints(func(o *rbacv1.RoleBinding, now time.Time) []any {
		return bindingCells(&o.ObjectMeta, &o.RoleRef, o.Subjects, now)
	}, bindingColumns("RoleRef can reference a Role in the current namespace or a ClusterRole in the global "+
		unresolved, "roleBinding")...)
	clusterRoleBindings = prints(func(o *rbacv1.ClusterRoleBinding, now time.Time) []any {
		return bindingCells(&o.ObjectMeta, &o.RoleRef, o.Subjects, now)
	}, bindingColumns("RoleRef can only reference a ClusterRole in the global "+unresolved, "clusterRoleBinding")...)

	csrSpec = certificatesv1.CertificateSigningRequestSpec{}.SwaggerDoc()

	certificateRequests = prints(certificateCells, nameColumn, ageColumn, text("SignerName", oldSigner),
		text("Requestor", "Base64-encoded PKCS#10 CSR data"), text("RequestedDuration", csrSpec["expirationSeconds"]),
		text("Condition", "Conditions applied to the request, such as approval or denial."))
)

// unresolved ends what v1beta1 says of a role, which the real server still shows.
const unresolved = "namespace. If the RoleRef cannot be resolved, the Authorizer must return an error."

func bindingColumns(role, kind string) []column {
	return []column{nameColumn, text("Role", role), ageColumn, wide("Users", "Users in the "+kind),
		wide("Groups", "Groups in the "+kind), wide("ServiceAccounts", "ServiceAccounts in the "+kind)}
}

func bindingCells(m *metav1.ObjectMeta, ref *rbacv1.RoleRef, subjects []rbacv1.Subject, now time.Time) []any {
	var users, groups, accounts []string
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		}
	}
	return []any{m.Name, ref.Kind + "/" + ref.Name, since(m.CreationTimestamp, now), strings.Join(users, ", "),
		strings.Join(groups, ", "), strings.Join(accounts, ", ")}
}

func certificateCells(o *certificatesv1.CertificateSigningRequest, now time.Time) []any {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range o.Status.Conditions {
		has[c.Type] = true
	}
	status := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		status = "Denied"
	case has[certificatesv1.CertificateApproved]:
		status = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		status += ",Failed"
	}
	if len(o.Status.Certificate) > 0 {
		status += ",Issued"
	}
	lasts := "<none>"
	if s := o.Spec.ExpirationSeconds; s != nil {
		lasts = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{o.Name, since(o.CreationTimestamp, now), orNone(o.Spec.SignerName), o.Spec.Username, lasts, status}
}

// oldSigner is what an older version of the API says of a request's signer: the real
// server describes the column by it.
const oldSigner = "Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. " +
	"If empty, it will be defaulted:\n 1. If it's a kubelet client certificate, it is assigned\n    " +
	"\"kubernetes.io/kube-apiserver-client-kubelet\".\n 2. If it's a kubelet serving certificate, it is " +
	"assigned\n    " +
	"\"kubernetes.io/kubelet-serving\".\n 3. Otherwise, it is assigned \"kubernetes.io/legacy-unknown\".\n" +
	"Distribution of trust for signers happens out of band. You can select on this field using `spec.signerName`."
