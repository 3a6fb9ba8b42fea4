package table

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	paramKind = text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy")

	validatingPolicies = prints(func(o *admissionv1.ValidatingAdmissionPolicy, now time.Time) []any {
		return policyCells(&o.ObjectMeta, len(o.Spec.Validations), o.Spec.ParamKind, now)
	}, nameColumn, number("Validations", "Validations indicates the number of validation rules defined in this "+
		"configuration"), paramKind, ageColumn)
	mutatingPolicies = prints(func(o *admissionv1.MutatingAdmissionPolicy, now time.Time) []any {
		return policyCells(&o.ObjectMeta, len(o.Spec.Mutations), o.Spec.ParamKind, now)
	}, nameColumn, number("Mutations", "Mutation indicates the number of mutations rules defined in this "+
		"configuration"), paramKind, ageColumn)

	policyName = text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to")
	paramRef   = text("ParamRef", "ParamRef indicates the param resource which sets the configuration param")

	validatingBindings = prints(func(o *admissionv1.ValidatingAdmissionPolicyBinding, now time.Time) []any {
		return policyBindingCells(&o.ObjectMeta, o.Spec.PolicyName, o.Spec.ParamRef, now)
	}, nameColumn, policyName, paramRef, ageColumn)
	mutatingBindings = prints(func(o *admissionv1.MutatingAdmissionPolicyBinding, now time.Time) []any {
		return policyBindingCells(&o.ObjectMeta, o.Spec.PolicyName, o.Spec.ParamRef, now)
	}, nameColumn, policyName, paramRef, ageColumn)
)

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

var (
	flow    = flowcontrolv1.FlowSchemaSpec{}.SwaggerDoc()
	queuing = flowcontrolv1.QueuingConfiguration{}.SwaggerDoc()

	flowSchemas = prints(flowCells, nameColumn,
		text("PriorityLevel", flowcontrolv1.PriorityLevelConfigurationReference{}.SwaggerDoc()["name"]),
		text("MatchingPrecedence", flow["matchingPrecedence"]),
		text("DistinguisherMethod", flow["distinguisherMethod"]), ageColumn,
		text("MissingPL", "references a broken or non-existent PriorityLevelConfiguration"))
	priorityLevels = prints(levelCells, nameColumn,
		text("Type", flowcontrolv1.PriorityLevelConfigurationSpec{}.SwaggerDoc()["type"]),
		text("NominalConcurrencyShares",
			flowcontrolv1.LimitedPriorityLevelConfiguration{}.SwaggerDoc()["nominalConcurrencyShares"]),
		text("Queues", queuing["queues"]), text("HandSize", queuing["handSize"]),
		text("QueueLengthLimit", queuing["queueLengthLimit"]), ageColumn)
)

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
