// Package policy evaluates ValidatingAdmissionPolicies, with the real server's own
// evaluator of expressions. Which policies there are, and what their parameters are, it is
// told. It is k8s.io/apiserver/pkg/admission/plugin/policy/validating, which cannot be had
// without informers.
package policy

import (
	celgo "github.com/google/cel-go/cel"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// expression is one of a policy, with what it has to yield.
type expression struct {
	name, text string
	types      []*celgo.Type
}

// GetName makes it what the compiler takes.
func (e *expression) GetName() string { return e.name }

// GetExpression makes it what the compiler takes.
func (e *expression) GetExpression() string { return e.text }

// ReturnTypes makes it what the compiler takes.
func (e *expression) ReturnTypes() []*celgo.Type { return e.types }

// Compiled are the expressions of a policy, compiled.
type Compiled struct {
	conditions  cel.ConditionEvaluator // nil: it has none
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator
	annotations cel.ConditionEvaluator
}

var compiled crdschema.Memo[*Compiled]

// Compile compiles the expressions of a policy. What does not compile is an error when it
// is evaluated.
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
	boolean, text := []*celgo.Type{celgo.BoolType}, []*celgo.Type{celgo.StringType}
	var variables []cel.NamedExpressionAccessor
	for _, v := range s.Variables {
		variables = append(variables, &expression{v.Name, v.Expression, []*celgo.Type{celgo.AnyType, celgo.DynType}})
	}
	compiler.CompileAndStoreVariables(variables, all, environment.StoredExpressions)
	var conditions, validations, messages, annotations []cel.ExpressionAccessor
	for _, c := range s.MatchConditions {
		conditions = append(conditions, &expression{c.Name, c.Expression, boolean})
	}
	for _, v := range s.Validations {
		validations = append(validations, &expression{"", v.Expression, boolean})
		if v.MessageExpression == "" {
			messages = append(messages, nil)
			continue
		}
		messages = append(messages, &expression{"", v.MessageExpression, text})
	}
	for _, a := range s.AuditAnnotations {
		annotations = append(annotations, &expression{a.Key, a.ValueExpression,
			[]*celgo.Type{celgo.StringType, celgo.NullType}})
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
