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
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
)

// CompileRules compiles the rules of an accepted schema. It returns nil if the schema has none.
func CompileRules(s *structural.Structural) *Rules {
	root := compileRules(s, s, true, model.SchemaDeclType(s, true))
	if root == nil {
		return nil
	}
	return &Rules{root}
}

func compileRules(of, schema *structural.Structural, whole bool, types *apiservercel.DeclType) *rules {
	r := &rules{schema: schema, properties: map[string]*rules{}}
	var element *apiservercel.DeclType
	if types != nil {
		element = types.ElemType
	}
	if len(of.XValidations) > 0 {
		seen := schema
		if whole {
			seen = model.WithTypeAndObjectMeta(schema)
		}
		r.shape = shapeOf(seen)
		r.compile(of, types)
	}
	if of.Items != nil && schema.Items != nil {
		r.items = compileRules(of.Items, schema.Items, schema.Items.XEmbeddedResource, element)
	}
	for name, p := range of.Properties { //detcheck:ordered each name is set once
		under, ok := schema.Properties[name]
		if !ok {
			continue
		}
		field := typeOfField(types, name, &under)
		if field == nil {
			continue // CEL rules cannot use this field
		}
		if sub := compileRules(&p, &under, under.XEmbeddedResource, field); sub != nil {
			r.properties[name] = sub
		}
	}
	if a, b := of.AdditionalProperties, schema.AdditionalProperties; a != nil && a.Structural != nil && b != nil &&
		b.Structural != nil {
		r.additional = compileRules(a.Structural, b.Structural, b.Structural.XEmbeddedResource, element)
	}
	if of.ValueValidation != nil {
		for i := range of.ValueValidation.AllOf {
			if sub := compileRules(unnested(&of.ValueValidation.AllOf[i]), schema, whole, types); sub != nil {
				r.allOf = append(r.allOf, sub)
			}
		}
	}
	if len(r.own) == 0 && r.failed == nil && r.items == nil && r.additional == nil && len(r.properties) == 0 &&
		len(r.allOf) == 0 {
		return nil
	}
	return r
}

func (r *rules) compile(of *structural.Structural, types *apiservercel.DeclType) {
	compiled := *r.schema
	compiled.XValidations = of.XValidations
	results, err := cel.Compile(&compiled, types, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), cel.StoredExpressionsEnvLoader())
	if err != nil {
		r.failed = err
		return
	}
	for i := range results {
		if results[i].Error != nil {
			panic("fakeapi: a rule was accepted, but does not compile: " + results[i].Error.Error())
		}
		r.own = append(r.own, rule{of.XValidations[i], results[i]})
		r.usesOld = r.usesOld || results[i].UsesOldSelf
	}
}

// typeOfField returns the type of a field, or nil if rules cannot use the field.
func typeOfField(types *apiservercel.DeclType, name string, schema *structural.Structural) *apiservercel.DeclType {
	escaped, ok := apiservercel.Escape(name)
	if !ok {
		return model.SchemaDeclType(schema, schema.XEmbeddedResource)
	}
	if types != nil && types.Fields[escaped] != nil {
		return types.Fields[escaped].Type
	}
	return nil
}

// unnested converts an element of allOf to a schema.
func unnested(n *structural.NestedValueValidation) *structural.Structural {
	if n == nil {
		return nil
	}
	s := &structural.Structural{
		ValueValidation: &n.ValueValidation, ValidationExtensions: n.ValidationExtensions,
		Generic: n.ForbiddenGenerics, Extensions: n.ForbiddenExtensions, Items: unnested(n.Items),
	}
	if n.Properties != nil {
		s.Properties = make(map[string]structural.Structural, len(n.Properties))
	}
	for name, p := range n.Properties { //detcheck:ordered each name is set once
		s.Properties[name] = *unnested(&p)
	}
	if n.AdditionalProperties != nil {
		s.AdditionalProperties = &structural.StructuralOrBool{Structural: unnested(n.AdditionalProperties)}
	}
	return s
}

// shape is the schema with which CEL reads values. Unlike [model.Structural], it creates its fields' schemas once.
type shape struct {
	*model.Structural
	properties map[string]common.Schema
	items      common.Schema
	additional common.SchemaOrBool
}

func shapeOf(s *structural.Structural) *shape {
	m := &model.Structural{Structural: s}
	h := &shape{Structural: m, additional: m.AdditionalProperties()}
	if s.Properties != nil {
		h.properties = make(map[string]common.Schema, len(s.Properties))
	}
	for name, p := range s.Properties { //detcheck:ordered each name is set once
		h.properties[name] = shapeOf(&p)
	}
	if s.Items != nil {
		h.items = shapeOf(s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		h.additional = values{shapeOf(s.AdditionalProperties.Structural)}
	}
	return h
}

func (h *shape) Properties() map[string]common.Schema { return h.properties }

func (h *shape) Items() common.Schema { return h.items }

func (h *shape) AdditionalProperties() common.SchemaOrBool { return h.additional }

type values struct{ schema *shape }

func (v values) Schema() common.Schema { return v.schema }
func (v values) Allows() bool          { return true }

// seen holds the values of a rule's variables self and oldSelf (the field old). If has is false, oldSelf has no value.
type seen struct {
	self, old ref.Val
	has       bool
}

func (s *seen) ResolveName(name string) (any, bool) {
	switch name {
	case cel.ScopedVarName:
		return s.self, true
	case cel.OldScopedVarName:
		return s.old, s.has
	}
	return nil, false
}

func (s *seen) Parent() interpreter.Activation { return nil }

// evaluate evaluates the rules of one part of the schema, like validateExpressions of
// k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel. It is faster, because it converts the schema only once.
func (c *checking) evaluate(r *rules, at *place, now, was any) {
	kind := r.schema.Type
	if r.failed != nil {
		c.errs = append(c.errs, field.Invalid(at.path(), kind, "rule compiler initialization error: "+r.failed.Error()))
		return
	}
	if len(r.own) == 0 {
		return
	}
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
			continue // an empty rule
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

// errBudget is the error of an evaluation that costs more than the remaining budget.
var errBudget = fmt.Errorf("%s", outOfBudget)

// stop adds an error, and ends the evaluation of all rules for the object.
func (c *checking) stop(err *field.Error) {
	c.errs = append(c.errs, err)
	c.budget = -1
}

func (c *checking) run(p celgo.Program, sees *seen) (ref.Val, error) {
	value, details, err := p.ContextEval(context.Background(), sees)
	var cost *uint64
	if details != nil {
		cost = details.ActualCost()
	}
	if cost == nil {
		return nil, errBudget // does not happen, because the program tracks its cost
	}
	if *cost > math.MaxInt64 || int64(*cost) > c.budget {
		return nil, errBudget
	}
	c.budget -= int64(*cost)
	return value, err
}

// broken adds the error of a failed rule, or a warning if the value is unchanged and the rule does not use oldSelf.
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

// message returns the error text for a failed rule. This is the first of: the result of messageExpression, the rule's
// message, the rule itself. It returns an error if messageExpression exceeds its cost limit.
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
