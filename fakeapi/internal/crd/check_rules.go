package crd

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/threelaws/threelaws/fakeapi/internal/crdschema"
)

// ruleCheck compiles the rules of a schema and adds up their estimated costs. It follows the validation package of
// k8s.io/apiextensions-apiserver, which is not used because it imports gRPC and OpenTelemetry.
type ruleCheck struct {
	past  *past
	same  bool // the update keeps the schema, so the cost of each rule is not limited
	bad   []string
	errs  field.ErrorList
	total cost
}

// node is a part of a schema (of one field, for example) whose CEL rules are checked.
type node struct {
	schema *apiextensions.JSONSchemaProps
	at     *field.Path
	types  *typed
	inside bool        // this part or one above it has rules
	often  *uint64     // maximum number of values of this part in an object; nil if unlimited
	alone  *field.Path // path of the outermost part around this one in which rules cannot use oldSelf, or nil
}

// typed holds a part of a schema in the two Go types that the CEL compiler needs.
type typed struct {
	schema *structural.Structural
	decl   *apiservercel.DeclType
}

// checkRules returns the errors in the rules of a structural schema. bad contains the errors of the schema itself. The
// rules of a part with such errors are not checked.
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

// checked caches the errors in the rules of new CRDs.
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

// sound reports whether there are no errors at this path or below it. c.bad holds the paths of all errors.
func (c *ruleCheck) sound(at *field.Path) bool {
	path := at.String()
	return !slices.ContainsFunc(c.bad, func(bad string) bool {
		rest, below := strings.CutPrefix(bad, path)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

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

func (c *ruleCheck) charge(at *field.Path, what string, cost uint64) {
	if cost > mostRule && !c.same {
		c.errs = append(c.errs, field.Forbidden(at, tooDear(what, cost, mostRule)))
	}
	c.total.add(at, cost)
}

// typesOf returns the types with which the rules of a part of a schema are compiled; nil if rules cannot use the part.
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

// Maximum estimated costs of rules, in the units of the CEL evaluator.
const (
	mostRule   = 10_000_000  // limit for one rule
	mostSchema = 100_000_000 // limit for all rules of a schema
)

type cost struct {
	sum  uint64
	dear []dearRule
}

type dearRule struct {
	at   *field.Path
	cost uint64
}

func (c *cost) add(at *field.Path, n uint64) {
	if c.sum += n; c.sum < n {
		c.sum = math.MaxUint64
	}
	if n < mostSchema/100 {
		return
	}
	c.dear = append(c.dear, dearRule{at, n})
	sort.SliceStable(c.dear, func(i, j int) bool { return c.dear[i].cost > c.dear[j].cost })
	c.dear = c.dear[:min(len(c.dear), 4)]
}

// errors returns errors that name the most expensive rules if the total cost exceeds the limit, otherwise nil.
func (c *cost) errors(at *field.Path) (errs field.ErrorList) {
	if c.sum <= mostSchema {
		return nil
	}
	for _, d := range c.dear {
		errs = append(errs, field.Forbidden(d.at,
			"contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
	}
	return append(errs, field.Forbidden(at,
		tooDear("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.sum, mostSchema)))
}

func tooDear(what string, cost, most uint64) string {
	factor := "more than 100x"
	switch times := float64(cost) / float64(most); {
	case times > 100:
	case times < 1.5:
		factor = fmt.Sprintf("%fx", times)
	default:
		factor = fmt.Sprintf("%.1fx", times)
	}
	return what + " exceeds budget by factor of " + factor + " (try simplifying the rule, or adding maxItems, " +
		"maxProperties, and maxLength where arrays, maps, and strings are declared)"
}

// occurrences returns the maximum number of items or entries in a list or map with this schema; nil means unlimited.
func occurrences(s *apiextensions.JSONSchemaProps) *uint64 {
	n := uint64(1)
	bound := func(most *int64) *uint64 {
		if most == nil {
			return nil
		}
		n = uint64(max(*most, 0))
		return &n
	}
	switch {
	case s.Type == "object" && s.AdditionalProperties != nil:
		return bound(s.MaxProperties)
	case s.Type == "array":
		return bound(s.MaxItems)
	}
	return &n
}

func multiplied(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := product(*a, *b)
	return &n
}

func product(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

type past struct {
	expressions map[string]bool
	schemas     []*apiextensions.JSONSchemaProps
}

func pastOf(s *apiextensions.CustomResourceDefinitionSpec) *past {
	p := &past{expressions: map[string]bool{}}
	eachSchema(s, func(schema *apiextensions.JSONSchemaProps, _ *field.Path) {
		p.schemas = append(p.schemas, schema)
		eachProps(schema, func(part *apiextensions.JSONSchemaProps) {
			for _, r := range part.XValidations {
				p.expressions[r.Rule], p.expressions[r.MessageExpression] = true, true
			}
		})
	})
	return p
}

func (p *past) has(s *apiextensions.JSONSchemaProps) bool {
	if p == nil {
		return false
	}
	for _, old := range p.schemas {
		if equality.Semantic.DeepEqual(old, s) {
			return true
		}
	}
	return false
}

// RuleEnv returns the CEL environment in which to compile an expression. An expression that was in the old schema may
// use CEL functions that new expressions may not use yet.
func (p *past) RuleEnv(all *environment.EnvSet, expression string) *celgo.Env {
	if p != nil && p.expressions[expression] {
		return all.StoredExpressionsEnv()
	}
	return all.NewExpressionsEnv()
}

// MessageExpressionEnv does the same as RuleEnv, for a messageExpression.
func (p *past) MessageExpressionEnv(all *environment.EnvSet, expression string) *celgo.Env {
	return p.RuleEnv(all, expression)
}
