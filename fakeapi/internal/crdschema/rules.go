package crdschema

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Rules are the rules of a schema (x-kubernetes-validations), compiled by the real
// server's own code. Which is evaluated next is decided here, as that code visits an
// object in the order of Go's maps, another each time, and the order decides what is
// still evaluated where the budget of an object is used up.
type Rules struct{ root *rules }

// rules are those of one part of a schema and of what is below it.
type rules struct {
	schema     *structural.Structural
	shape      common.Schema // of its values, as rules see them
	own        []rule
	usesOld    bool // one of its own does
	allOf      []*rules
	items      *rules
	properties map[string]*rules
	additional *rules
}

// rule is one rule.
type rule struct {
	apiextensionsv1.ValidationRule
	cel.CompilationResult
}

// text is how errors name a rule.
func (r *rule) text() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}

// HasRules says whether a schema has rules, at any depth.
func HasRules(s *structural.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || HasRules(s.Items) || s.AdditionalProperties != nil &&
		HasRules(s.AdditionalProperties.Structural) {
		return true
	}
	for _, p := range s.Properties { //detcheck:ordered any will do
		if HasRules(&p) {
			return true
		}
	}
	return false
}

// Check evaluates the rules on an object, of which there may be an old state. What
// breaks a rule in a part that is as it was is a warning.
func (r *Rules) Check(s *structural.Structural, now, was any) (errs field.ErrorList, warnings []string) {
	c := &checking{whole: whole{s, now, was}, budget: celconfig.RuntimeCELCostBudget}
	c.check(r.root, &place{}, now, was)
	return c.errs, c.warnings
}

// checking is one object being checked.
type checking struct {
	whole
	budget   int64 // of cost that is left; below 0 nothing more is evaluated
	errs     field.ErrorList
	warnings []string
}

func (c *checking) check(r *rules, at *place, now, was any) {
	if r == nil || now == nil || c.budget < 0 {
		return
	}
	c.evaluate(r, at, now, was)
	for _, one := range r.allOf {
		c.check(one, &place{above: at, step: branch}, now, was)
	}
	switch now := now.(type) {
	case map[string]any:
		before, _ := was.(map[string]any)
		if !cel.MapIsCorrelatable(r.schema.XMapType) {
			before = nil
		}
		c.checkKeys(r, at, now, before)
	case []any:
		if r.items == nil {
			return
		}
		before, _ := was.([]any)
		correlated := common.MakeMapList(&model.Structural{Structural: r.schema}, before)
		for i := range now {
			c.check(r.items, &place{above: at, step: item, index: i}, now[i], correlated.Get(now[i]))
		}
	}
}

// checkKeys checks the values of a map, in the order of its keys.
func (c *checking) checkKeys(r *rules, at *place, now, was map[string]any) {
	if r.additional == nil && len(r.properties) == 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if r.additional != nil {
			c.check(r.additional, &place{above: at, step: entry, name: key}, now[key], was[key])
		} else if p := r.properties[key]; p != nil {
			c.check(p, &place{above: at, step: property, name: key}, now[key], was[key])
		}
	}
}
