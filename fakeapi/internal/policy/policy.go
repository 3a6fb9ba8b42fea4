// Package policy evaluates ValidatingAdmissionPolicies with the real server's evaluator. It replaces
// k8s.io/apiserver/pkg/admission/plugin/policy/validating, which needs informers.
package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
	"github.com/threelaws/threelaws/fakeapi/internal/expression"
	"github.com/threelaws/threelaws/fakeapi/internal/webhook"
)

// Compiled holds the compiled expressions of a policy.
type Compiled struct {
	conditions  cel.ConditionEvaluator // nil if the policy has no conditions
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator
	annotations cel.ConditionEvaluator
}

var compiled crdschema.Memo[*Compiled]

// Compile compiles the expressions of a policy. If an expression is invalid, evaluating it returns the error.
func Compile(p *registration.ValidatingAdmissionPolicy) *Compiled {
	return compiled.Of(&p.Spec, "", func() *Compiled { return compile(&p.Spec) })
}

func compile(s *registration.ValidatingAdmissionPolicySpec) *Compiled {
	compiler, err := cel.NewCompositedCompiler(
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		panic("fakeapi: no environment for the expressions of policies: " + err.Error())
	}
	all := cel.OptionalVariableDeclarations{HasParams: s.ParamKind != nil, HasAuthorizer: true}
	var variables []cel.NamedExpressionAccessor
	for _, v := range s.Variables {
		variables = append(variables, expression.Expression{Name: v.Name, Text: v.Expression, Yields: expression.Any})
	}
	compiler.CompileAndStoreVariables(variables, all, environment.StoredExpressions)
	var conditions, validations, messages, annotations []cel.ExpressionAccessor
	for _, c := range s.MatchConditions {
		conditions = append(conditions, expression.Expression{Text: c.Expression})
	}
	for _, v := range s.Validations {
		validations = append(validations, expression.Expression{Text: v.Expression})
		if v.MessageExpression == "" {
			messages = append(messages, nil)
			continue
		}
		messages = append(messages, expression.Expression{Text: v.MessageExpression, Yields: expression.Text})
	}
	for _, a := range s.AuditAnnotations {
		annotations = append(annotations,
			expression.Expression{Text: a.ValueExpression, Yields: expression.Annotation})
	}
	c := &Compiled{}
	if len(conditions) > 0 {
		c.conditions = compiler.CompileCondition(conditions, all, environment.StoredExpressions)
	}
	c.validations = compiler.CompileCondition(validations, all, environment.StoredExpressions)
	c.annotations = compiler.CompileCondition(annotations, all, environment.StoredExpressions)
	all.HasAuthorizer = false
	c.messages = compiler.CompileCondition(messages, all, environment.StoredExpressions)
	return c
}

// Denial is one reason why a policy refuses a request.
type Denial struct {
	Message string
	Reason  metav1.StatusReason // "" if the evaluation of the policy failed
	// Whatever is set if the request is refused even if the binding's actions do not contain Deny.
	Whatever bool
}

// Request holds the request for which policies are evaluated.
type Request struct {
	Versioned *admission.VersionedAttributes
	Target    webhook.Target
	Namespace *corev1.Namespace // nil for a cluster-scoped object
	Params    runtime.Object    // nil if there is no parameter object
}

// Evaluate returns the denials of a policy for a request.
func (c *Compiled) Evaluate(p *registration.ValidatingAdmissionPolicy, s *Request) []Denial {
	failed := func(text string) []Denial {
		if FailsOpen(p) {
			return nil
		}
		return []Denial{{Message: text}}
	}
	e := &evaluation{subject: s, request: cel.CreateAdmissionRequest(s.Versioned.Attributes,
		metav1.GroupVersionResource(s.Target.Resource), metav1.GroupVersionKind(s.Target.Kind))}
	if c.conditions != nil {
		ok, err := e.meets(c.conditions)
		if err != nil {
			return failed(err.Error())
		}
		if !ok {
			return nil
		}
	}
	namespace := cel.CreateNamespaceObject(s.Namespace)
	results, left, err := e.run(c.validations, true, namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return failed(err.Error())
	}
	texts, _, textErr := e.run(c.messages, false, namespace, left)
	var all []Denial
	for i, r := range results {
		switch {
		case r.Error != nil:
			all = append(all, failed(r.Error.Error())...)
		case errors.Is(textErr, apiservercel.ErrInternal) || errors.Is(textErr, apiservercel.ErrOutOfBudget):
			all = append(all, failed(fmt.Sprintf("failed messageExpression: %s", textErr))...)
		case r.EvalResult != celtypes.True:
			all = append(all, denial(&p.Spec.Validations[i], texts, i))
		}
	}
	annotations, _, err := e.run(c.annotations, false, s.Namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return failed(err.Error())
	}
	for _, r := range annotations { // audit annotations are not stored, but an error in one of them refuses the request
		if r.Error != nil && !FailsOpen(p) {
			all = append(all, Denial{Message: r.Error.Error(), Whatever: true})
		}
	}
	return all
}

// FailsOpen reports whether a request is allowed if the evaluation of the policy fails.
func FailsOpen(p *registration.ValidatingAdmissionPolicy) bool {
	return p.Spec.FailurePolicy != nil && *p.Spec.FailurePolicy == registration.Ignore
}

// denial returns the reason for a refusal by the validation with index i.
func denial(v *registration.Validation, texts []cel.EvaluationResult, i int) Denial {
	d := Denial{Reason: metav1.StatusReasonInvalid}
	if v.Reason != nil {
		d.Reason = *v.Reason
	}
	if i < len(texts) && texts[i].Error == nil && texts[i].EvalResult != nil {
		said, _ := texts[i].EvalResult.Value().(string)
		said = strings.TrimSpace(said)
		if len(said) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(said, "\n") {
			d.Message = said
		}
	}
	if d.Message == "" {
		d.Message = strings.TrimSpace(v.Message)
	}
	if d.Message == "" {
		d.Message = "failed expression: " + strings.TrimSpace(v.Expression)
	}
	return d
}

type evaluation struct {
	subject *Request
	request *admissionv1.AdmissionRequest
}

func (e *evaluation) run(c cel.ConditionEvaluator, authorizes bool, namespace *corev1.Namespace,
	budget int64) ([]cel.EvaluationResult, int64, error) {
	bindings := cel.OptionalVariableBindings{VersionedParams: e.subject.Params}
	if authorizes {
		bindings.Authorizer = webhook.Everybody
	}
	return c.ForInput(context.Background(), e.subject.Versioned, e.request, bindings, namespace, budget)
}

func (e *evaluation) meets(c cel.ConditionEvaluator) (bool, error) {
	results, _, err := e.run(c, true, nil, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return false, err
	}
	return webhook.Hold(results)
}
