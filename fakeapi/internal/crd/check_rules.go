package crd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// ruleCheck compiles the rules of a schema, and adds up what they may cost. It follows
// the real server's validation of definitions, package
// k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation, which itself
// needs gRPC and OpenTelemetry: it can call webhooks.
type ruleCheck struct {
	past  *past
	same  bool // the schema is as it was: what one rule costs was accepted
	bad   []string
	errs  field.ErrorList
	total cost
}

// node is a part of the schema while its rules are checked.
type node struct {
	schema *apiextensions.JSONSchemaProps
	at     *field.Path
	types  *typed
	inside bool        // here or above there are rules
	often  *uint64     // how often it may occur in an object; nil: there is no bound
	alone  *field.Path // the part above that cannot be told from its old state; nil: all can
}

// typed is what rules see of a part of a schema.
type typed struct {
	schema *structural.Structural
	decl   *apiservercel.DeclType
}

// checkRules checks the rules of a schema that is structural; bad are the errors that
// were found in it, as rules of what is wrong itself are not looked at.
func checkRules(s *apiextensions.JSONSchemaProps, at *field.Path, was *past, bad field.ErrorList) field.ErrorList {
	ruled := false
	eachProps(s, func(part *apiextensions.JSONSchemaProps) { ruled = ruled || len(part.XValidations) > 0 })
	switch {
	case !ruled:
		return nil
	case was == nil && len(bad) == 0:
		return checked.Of(s, at.String(), func() field.ErrorList { return findInRules(s, at, nil, nil) })
	}
	return findInRules(s, at, was, bad)
}

// checked is what was found wrong with the rules of new schemas.
var checked crdschema.Memo[field.ErrorList]

func findInRules(s *apiextensions.JSONSchemaProps, at *field.Path, was *past, bad field.ErrorList) field.ErrorList {
	c := &ruleCheck{past: was, same: was.has(s)}
	for _, err := range bad {
		c.bad = append(c.bad, err.Field)
	}
	once := uint64(1)
	c.check(node{schema: s, at: at, often: &once}, true)
	return append(c.errs, c.total.errors(at)...)
}

func (c *ruleCheck) check(n node, root bool) {
	s := n.schema
	if s == nil {
		return
	}
	n.inside = n.inside || len(s.XValidations) > 0
	if n.inside && n.types == nil {
		n.types = typesOf(s, root || s.XEmbeddedResource)
	}
	below := node{inside: n.inside, often: multiplied(n.often, occurrences(s)), alone: n.alone}
	if s.AdditionalProperties != nil {
		sub := below
		sub.schema, sub.at = s.AdditionalProperties.Schema, n.at.Child("additionalProperties")
		sub.types = n.types.values()
		c.check(sub, false)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p, sub := s.Properties[name], below
		sub.schema, sub.at, sub.types = &p, n.at.Child("properties").Key(name), n.types.property(name)
		if sub.alone == nil && !cel.MapIsCorrelatable(s.XMapType) {
			sub.alone = n.at
		}
		c.check(sub, false)
	}
	if s.Items != nil {
		sub := below
		sub.schema, sub.at, sub.types = s.Items.Schema, n.at.Child("items"), n.types.items()
		if sub.alone == nil && (s.XListType == nil || *s.XListType != "map") {
			sub.alone = n.at
		}
		c.check(sub, false)
	}
	c.compile(&n)
}

// sound says whether nothing was found wrong in a part and below it.
func (c *ruleCheck) sound(at *field.Path) bool {
	path := at.String()
	return !slices.ContainsFunc(c.bad, func(bad string) bool {
		rest, below := strings.CutPrefix(bad, path)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// compile compiles the rules of one part.
func (c *ruleCheck) compile(n *node) {
	if len(n.schema.XValidations) == 0 || !c.sound(n.at) {
		return
	}
	at := n.at.Child("x-kubernetes-validations")
	if n.types == nil {
		c.errs = append(c.errs, field.InternalError(at,
			fmt.Errorf("internal error: failed to retrieve type information for x-kubernetes-validations")))
		return
	}
	results, err := cel.Compile(n.types.schema, n.types.decl, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), c.past)
	if err != nil {
		c.errs = append(c.errs, field.InternalError(at, err))
		return
	}
	for i := range results {
		c.judge(n, at.Index(i), &n.schema.XValidations[i], &results[i])
	}
}

// judge says what is wrong with one compiled rule.
func (c *ruleCheck) judge(n *node, at *field.Path, rule *apiextensions.ValidationRule, r *cel.CompilationResult) {
	each := r.MaxCardinality
	if n.often != nil {
		each = *n.often
	}
	c.charge(at.Child("rule"), "estimated rule cost", product(r.MaxCost, each))
	switch {
	case r.Error == nil:
	case r.Error.Type == apiservercel.ErrorTypeRequired:
		c.errs = append(c.errs, field.Required(at.Child("rule"), r.Error.Detail))
	default:
		c.errs = append(c.errs, field.Invalid(at.Child("rule"), *rule, r.Error.Detail))
	}
	switch {
	case r.MessageExpressionError != nil:
		c.errs = append(c.errs, field.Invalid(at.Child("messageExpression"), *rule, r.MessageExpressionError.Detail))
	case r.MessageExpression != nil:
		c.charge(at.Child("messageExpression"), "estimated messageExpression cost", r.MessageExpressionMaxCost)
	}
	switch {
	case r.UsesOldSelf && n.alone != nil:
		c.errs = append(c.errs, field.Invalid(at.Child("rule"), rule.Rule,
			fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", n.alone)))
	case !r.UsesOldSelf && rule.OptionalOldSelf != nil:
		c.errs = append(c.errs, field.Invalid(at.Child("optionalOldSelf"), *rule.OptionalOldSelf,
			"may not be set if oldSelf is not used in rule"))
	}
}

// charge counts what an expression may cost.
func (c *ruleCheck) charge(at *field.Path, what string, cost uint64) {
	if cost > mostRule && !c.same {
		c.errs = append(c.errs, field.Forbidden(at, tooDear(what, cost, mostRule)))
	}
	c.total.add(at, cost)
}

// typesOf reads the types of a part of a schema from the part itself; nil when it has none.
func typesOf(s *apiextensions.JSONSchemaProps, whole bool) *typed {
	ss, err := structural.NewStructural(s)
	if err != nil {
		return nil
	}
	decl := model.SchemaDeclType(ss, whole)
	if decl == nil {
		return nil
	}
	return &typed{ss, decl}
}

func (t *typed) property(name string) *typed {
	if t == nil {
		return nil
	}
	p, there := t.schema.Properties[name]
	escaped, ok := apiservercel.Escape(name)
	if f := t.decl.Fields[escaped]; there && ok && f != nil {
		return &typed{&p, f.Type}
	}
	return nil
}

func (t *typed) items() *typed {
	if t == nil || t.schema.Items == nil {
		return nil
	}
	return &typed{t.schema.Items, t.decl.ElemType}
}

func (t *typed) values() *typed {
	if t == nil || t.schema.AdditionalProperties == nil || t.schema.AdditionalProperties.Structural == nil {
		return nil
	}
	return &typed{t.schema.AdditionalProperties.Structural, t.decl.ElemType}
}
