package webhook

import (
	"context"
	"sync"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// condition is an expression that yields a boolean.
type condition string

// GetExpression makes it what the compiler takes.
func (c condition) GetExpression() string { return string(c) }

// ReturnTypes makes it what the compiler takes.
func (c condition) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.BoolType} }

var compiler = sync.OnceValue(func() cel.ConditionCompiler {
	return cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

var compiledConditions crdschema.Memo[cel.ConditionEvaluator]

// Everybody may do everything: what authorizer answers to expressions.
var Everybody = authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string,
	error) {
	return authorizer.DecisionAllow, "", nil
})

// Versioned is a request as the evaluator takes it, with its objects in the form that is
// meant.
func (a *Attributes) Versioned(to Target, obj, old runtime.Object) *admission.VersionedAttributes {
	who := &user.DefaultInfo{Name: a.User.Username, UID: a.User.UID, Groups: a.User.Groups}
	record := admission.NewAttributesRecord(obj, old, a.Kind, a.Namespace, a.Name, a.Resource, a.Subresource,
		admission.Operation(a.Operation), a.Options, a.DryRun, who)
	return &admission.VersionedAttributes{Attributes: record, VersionedObject: obj, VersionedOldObject: old,
		VersionedKind: to.Kind}
}

// Meets says whether a request meets all match conditions: one that does not hold decides,
// whatever else fails.
func Meets(conditions []registration.MatchCondition, v *admission.VersionedAttributes, to Target) (bool, error) {
	if len(conditions) == 0 {
		return true, nil
	}
	evaluator := compiledConditions.Of(conditions, "", func() cel.ConditionEvaluator {
		all := make([]cel.ExpressionAccessor, len(conditions))
		for i := range conditions {
			all[i] = condition(conditions[i].Expression)
		}
		return compiler().CompileCondition(all, cel.OptionalVariableDeclarations{HasAuthorizer: true},
			environment.StoredExpressions)
	})
	request := cel.CreateAdmissionRequest(v.Attributes, metav1.GroupVersionResource(to.Resource),
		metav1.GroupVersionKind(to.Kind))
	results, _, err := evaluator.ForInput(context.Background(), v, request,
		cel.OptionalVariableBindings{Authorizer: Everybody}, nil, celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return false, err
	}
	return Hold(results)
}

// Hold says whether all conditions hold that were evaluated: one that does not decides,
// whatever else fails.
func Hold(results []cel.EvaluationResult) (bool, error) {
	var failed []error
	for _, r := range results {
		if r.Error != nil {
			failed = append(failed, r.Error)
		}
		if r.EvalResult == celtypes.False {
			return false, nil
		}
	}
	return len(failed) == 0, utilerrors.NewAggregate(failed)
}
