package crd

import (
	"fmt"
	"math"
	"sort"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
)

// What rules may cost by estimate, in units of the evaluator.
const (
	mostRule   = 10_000_000  // one rule
	mostSchema = 100_000_000 // all of a schema
)

// cost adds up what the rules of a schema may cost, and remembers the dearest.
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

// errors says that all rules together cost too much, and which cost most.
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

// occurrences is how many values a part of a schema can have below it for each of its
// own; nil: there is no bound.
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

// product is the product, or the largest number there is.
func product(a, b uint64) uint64 {
	if a != 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

// past is what a changed definition was: what was accepted is not held against it. The
// past of a new definition is nil.
type past struct {
	expressions map[string]bool
	schemas     []*apiextensions.JSONSchemaProps
}

// pastOf reads an old definition.
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

// has says whether one of its versions had the schema.
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

// RuleEnv is what an expression may use: one that was accepted before, by whichever
// server, more than a new one.
func (p *past) RuleEnv(all *environment.EnvSet, expression string) *celgo.Env {
	if p != nil && p.expressions[expression] {
		return all.StoredExpressionsEnv()
	}
	return all.NewExpressionsEnv()
}

// MessageExpressionEnv is the same for the expressions of messages.
func (p *past) MessageExpressionEnv(all *environment.EnvSet, expression string) *celgo.Env {
	return p.RuleEnv(all, expression)
}
