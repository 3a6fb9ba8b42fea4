package crdschema

import (
	"context"
	"maps"
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
)

// Rules are the rules of a schema (x-kubernetes-validations), compiled. Each is
// evaluated by the real server's own code; which comes next is decided here, as that
// visits an object in the order of Go's maps, another each time, and the order decides
// what is still evaluated where the budget of an object is used up.
type Rules struct{ root *rules }

// rules are those of one part of a schema and of what is below it.
type rules struct {
	own        *cel.Validator // of the part itself, without what is below
	allOf      []*rules
	items      *rules
	properties map[string]*rules
	additional *rules
}

// CompileRules compiles the rules of a schema of whole objects; nil when it has none.
func CompileRules(s *structural.Structural) *Rules {
	v := cel.NewValidator(s, true, celconfig.PerCallLimit)
	if v == nil {
		return nil
	}
	return &Rules{rulesOf(v)}
}

func rulesOf(v *cel.Validator) *rules {
	if v == nil {
		return nil
	}
	own := *v
	own.AllOfValidators, own.Items, own.Properties, own.AdditionalProperties = nil, nil, nil, nil
	r := &rules{own: &own, items: rulesOf(v.Items), additional: rulesOf(v.AdditionalProperties),
		properties: make(map[string]*rules, len(v.Properties))}
	for _, one := range v.AllOfValidators {
		r.allOf = append(r.allOf, rulesOf(one))
	}
	//detcheck:ordered each property is compiled by itself
	for name, p := range v.Properties {
		r.properties[name] = rulesOf(&p)
	}
	return r
}

// Check evaluates the rules on an object, of which there may be an old state. What
// breaks a rule in a part that is as it was is a warning.
func (r *Rules) Check(s *structural.Structural, now, was any) (errs field.ErrorList, warnings []string) {
	c := &checking{budget: celconfig.RuntimeCELCostBudget}
	c.ctx = warning.WithWarningRecorder(context.Background(), c)
	var o old
	if was != nil {
		o.same = common.NewCorrelatedObject(now, was, &model.Structural{Structural: s})
	}
	c.check(r.root, nil, now, was, o)
	return c.errs, c.warnings
}

// checking is one object being checked.
type checking struct {
	ctx      context.Context
	budget   int64 // of cost that is left; below 0 nothing more is evaluated
	errs     field.ErrorList
	warnings []string
}

// AddWarning makes it a recorder of warnings.
func (c *checking) AddWarning(_, text string) { c.warnings = append(c.warnings, text) }

// old is what a part is compared with to see whether it is as it was: its own old state,
// or, where that cannot be told, that of the nearest part around it of which it can.
type old struct{ same, around *common.CorrelatedObject }

func (o old) key(name string) old {
	switch {
	case o.same == nil:
		return o
	case o.around == nil && (name == "apiVersion" || name == "kind"):
		return old{} // they are made the same before they are compared
	}
	return old{o.same.Key(name), o.same}
}

func (o old) index(i int) old {
	if o.same == nil {
		return o
	}
	return old{o.same.Index(i), o.same}
}

// options say by what errors are let pass.
func (o old) options() []cel.Option {
	switch {
	case o.same != nil:
		return []cel.Option{cel.WithRatcheting(o.same)}
	case o.around != nil:
		return []cel.Option{cel.WithRatcheting(o.around)}
	}
	return nil
}

func (c *checking) check(r *rules, at *field.Path, now, was any, o old) {
	if r == nil || now == nil || c.budget < 0 {
		return
	}
	var errs field.ErrorList
	errs, c.budget = r.own.Validate(c.ctx, at, nil, now, was, c.budget, o.options()...)
	c.errs = append(c.errs, errs...)
	for _, one := range r.allOf {
		c.check(one, at, now, was, old{around: o.around})
	}
	switch now := now.(type) {
	case map[string]any:
		before, _ := was.(map[string]any)
		if !cel.MapIsCorrelatable(r.own.Schema.XMapType) {
			before = nil
		}
		c.checkKeys(r, at, now, before, o)
	case []any:
		if r.items == nil {
			return
		}
		before, _ := was.([]any)
		correlated := common.MakeMapList(&model.Structural{Structural: r.own.Schema}, before)
		for i := range now {
			c.check(r.items, at.Index(i), now[i], correlated.Get(now[i]), o.index(i))
		}
	}
}

// checkKeys checks the values of a map, in the order of its keys.
func (c *checking) checkKeys(r *rules, at *field.Path, now, was map[string]any, o old) {
	if r.additional == nil && len(r.properties) == 0 {
		return
	}
	keys := slices.Sorted(maps.Keys(now))
	for _, key := range keys {
		c.check(r.additional, at.Key(key), now[key], was[key], o.key(key))
	}
	for _, key := range keys {
		c.check(r.properties[key], at.Child(key), now[key], was[key], o.key(key))
	}
}
