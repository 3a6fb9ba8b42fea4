package crdschema

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// seen is what a rule sees: self, and oldSelf where there is one or may be none.
type seen struct {
	self, old ref.Val
	has       bool
}

// ResolveName makes it what the evaluator asks.
func (s *seen) ResolveName(name string) (any, bool) {
	switch name {
	case cel.ScopedVarName:
		return s.self, true
	case cel.OldScopedVarName:
		return s.old, s.has
	}
	return nil, false
}

// Parent makes it what the evaluator asks.
func (s *seen) Parent() interpreter.Activation { return nil }

// evaluate evaluates the rules of one part on its value, as validateExpressions does in
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel, which reads the schema anew
// for every field that a rule names.
func (c *checking) evaluate(r *rules, at *place, now, was any) {
	if len(r.own) == 0 {
		return
	}
	kind := r.schema.Type
	if c.budget <= 0 {
		c.stop(field.Invalid(at.path(), kind, outOfBudget))
		return
	}
	plain := &seen{self: common.UnstructuredToVal(now, r.shape)}
	optional := &seen{self: plain.self, old: types.OptionalNone, has: true}
	if was != nil && r.usesOld {
		plain.old, plain.has = common.UnstructuredToVal(was, r.shape), true
		optional.old = types.OptionalOf(plain.old)
	}
	for i := range r.own {
		rule := &r.own[i]
		sees := plain
		switch {
		case rule.OptionalOldSelf != nil && *rule.OptionalOldSelf:
			sees = optional
		case rule.UsesOldSelf && was == nil:
			continue
		}
		if rule.Program == nil {
			continue // it is empty
		}
		holds, err := c.run(rule.Program, sees)
		switch {
		case err == errBudget:
			c.stop(field.Invalid(at.path(), kind, outOfBudget))
		case err != nil && strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded"):
			c.stop(field.Invalid(at.path(), kind, fmt.Sprintf("'%v': no further validation rules will be run due to "+
				"call cost exceeds limit for rule: %v", err, rule.text())))
		case err != nil && strings.HasPrefix(err.Error(), "no such overload"):
			c.errs = append(c.errs, field.Invalid(at.path(), kind, fmt.Sprintf("'%v': call arguments did not match "+
				"a supported operator, function or macro signature for rule: %v", err, rule.text())))
		case err != nil:
			c.errs = append(c.errs, field.Invalid(at.path(), kind,
				fmt.Sprintf("%v evaluating rule: %v", err, rule.text())))
		case holds != types.True:
			c.broken(rule, at, kind, now, plain)
		}
		if c.budget < 0 {
			return
		}
	}
}

const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// errBudget says that an evaluation cost more than was left.
var errBudget = fmt.Errorf("%s", outOfBudget)

// stop ends the evaluation of all rules of the object.
func (c *checking) stop(err *field.Error) {
	c.errs = append(c.errs, err)
	c.budget = -1
}

// run evaluates an expression and pays for it.
func (c *checking) run(p celgo.Program, sees *seen) (ref.Val, error) {
	value, details, err := p.ContextEval(context.Background(), sees)
	var cost *uint64
	if details != nil {
		cost = details.ActualCost()
	}
	if cost == nil {
		return nil, errBudget // the evaluator always tells: it was asked to when it was made
	}
	if *cost > math.MaxInt64 || int64(*cost) > c.budget {
		return nil, errBudget
	}
	c.budget -= int64(*cost)
	return value, err
}

// broken says that a rule does not hold: refused, or let pass with a warning where the
// value is as it was.
func (c *checking) broken(rule *rule, where *place, kind string, now any, sees *seen) {
	at := where.path()
	if rule.NormalizedRuleFieldPath != "" {
		at = at.Child(rule.NormalizedRuleFieldPath)
	}
	value := now
	if kind == "object" || kind == "array" {
		value = field.OmitValueType{}
	}
	message, failed := c.message(rule, at, kind, sees)
	err := failed
	if failed == nil {
		err = refusal(rule.Reason, at, value, message)
	}
	if !rule.UsesOldSelf && where.old(&c.whole).equal() {
		c.warnings = append(c.warnings, err.Error())
	} else {
		c.errs = append(c.errs, err)
	}
	if failed != nil {
		c.budget = -1
	}
}

func refusal(reason *apiextensionsv1.FieldValueErrorReason, at *field.Path, value any, message string) *field.Error {
	if reason != nil {
		switch *reason {
		case apiextensionsv1.FieldValueForbidden:
			return field.Forbidden(at, message)
		case apiextensionsv1.FieldValueRequired:
			return field.Required(at, message)
		case apiextensionsv1.FieldValueDuplicate:
			return field.Duplicate(at, value)
		}
	}
	return field.Invalid(at, value, message)
}

var lineBreak = regexp.MustCompile(`[\n]+`)

// message is what is said of a rule that does not hold: what its messageExpression makes,
// or, where that makes nothing that can be said, its message. An expression that costs
// too much is an error of its own.
func (c *checking) message(r *rule, at *field.Path, kind string, sees *seen) (text string, failed *field.Error) {
	text = "failed rule: " + r.text()
	if r.Message != "" {
		text = r.text()
	}
	if r.CompilationResult.MessageExpression == nil {
		return text, nil
	}
	made, err := c.run(r.CompilationResult.MessageExpression, sees)
	switch {
	case err == errBudget:
		return "", field.Invalid(at, kind, "messageExpression evaluation failed due to running out of cost budget, "+
			"no further validation rules will be run")
	case err != nil && strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded"):
		return "", field.Invalid(at, kind, fmt.Sprintf("no further validation rules will be run due to call cost "+
			"exceeds limit for messageExpression: %q", r.ValidationRule.MessageExpression))
	case err != nil:
		return text, nil
	}
	said, _ := made.Value().(string)
	said = strings.TrimSpace(said)
	if said == "" || len(said) > celconfig.MaxEvaluatedMessageExpressionSizeBytes || lineBreak.MatchString(said) {
		return text, nil
	}
	return said, nil
}
