package table

import (
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

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

func countedCells(m *metav1.ObjectMeta, n int, now time.Time) []any {
	return []any{m.Name, int64(n), since(m.CreationTimestamp, now)}
}

func claimState(o *resourcev1.ResourceClaim) string {
	var states []string
	if o.DeletionTimestamp != nil {
		states = append(states, "deleted")
	}
	switch {
	case o.Status.Allocation != nil && len(o.Status.ReservedFor) > 0:
		states = append(states, "allocated", "reserved")
	case o.Status.Allocation != nil:
		states = append(states, "allocated")
	case o.DeletionTimestamp == nil:
		states = append(states, "pending")
	}
	return strings.Join(states, ",")
}

func apiServiceCells(o *apiregistrationv1.APIService, now time.Time) []any {
	service, available := "Local", string(apiregistrationv1.ConditionUnknown)
	if s := o.Spec.Service; s != nil {
		service = s.Namespace + "/" + s.Name
	}
	for _, c := range o.Status.Conditions {
		if c.Type != apiregistrationv1.Available {
			continue
		}
		if available = string(c.Status); c.Status != apiregistrationv1.ConditionTrue && c.Reason != "" {
			available += " (" + c.Reason + ")"
		}
		break
	}
	return []any{o.Name, service, available, since(o.CreationTimestamp, now)}
}

func policyCells(m *metav1.ObjectMeta, rules int, kind *admissionv1.ParamKind, now time.Time) []any {
	param := "<unset>"
	if kind != nil {
		param = kind.APIVersion + "/" + kind.Kind
	}
	return []any{m.Name, int64(rules), param, since(m.CreationTimestamp, now)}
}

func policyBindingCells(m *metav1.ObjectMeta, policy string, ref *admissionv1.ParamRef, now time.Time) []any {
	param := "<unset>"
	switch {
	case ref == nil:
	case ref.Name != "" && ref.Namespace != "":
		param = ref.Namespace + "/" + ref.Name
	case ref.Name != "":
		param = "*/" + ref.Name
	case ref.Selector != nil:
		param = ref.Selector.String()
	}
	return []any{m.Name, policy, param, since(m.CreationTimestamp, now)}
}

func flowCells(o *flowcontrolv1.FlowSchema, now time.Time) []any {
	method, dangling := "<none>", "?"
	if m := o.Spec.DistinguisherMethod; m != nil {
		method = string(m.Type)
	}
	for _, c := range o.Status.Conditions {
		if c.Type == flowcontrolv1.FlowSchemaConditionDangling {
			dangling = string(c.Status)
			break
		}
	}
	return []any{o.Name, o.Spec.PriorityLevelConfiguration.Name, int64(o.Spec.MatchingPrecedence), method,
		since(o.CreationTimestamp, now), dangling}
}

func levelCells(o *flowcontrolv1.PriorityLevelConfiguration, now time.Time) []any {
	var shares, queues, hand, length any = "<none>", "<none>", "<none>", "<none>"
	if p := o.Spec.Limited; p != nil {
		shares = int32(0)
		if n := p.NominalConcurrencyShares; n != nil {
			shares = *n
		}
		if q := p.LimitResponse.Queuing; q != nil {
			queues, hand, length = q.Queues, q.HandSize, q.QueueLengthLimit
		}
	}
	return []any{o.Name, string(o.Spec.Type), shares, queues, hand, length, since(o.CreationTimestamp, now)}
}

// ipAddressCells returns one cell more than the Table has columns, like the real server.
func ipAddressCells(o *networkingv1.IPAddress, now time.Time) []any {
	parent := "<none>"
	if p := o.Spec.ParentRef; p != nil {
		resource := schema.GroupResource{Group: p.Group, Resource: p.Resource}
		parent = strings.ToLower(resource.String())
		if p.Namespace != "" {
			parent += "/" + p.Namespace
		}
		parent += "/" + p.Name
	}
	return []any{o.Name, parent, since(o.CreationTimestamp, now)}
}
