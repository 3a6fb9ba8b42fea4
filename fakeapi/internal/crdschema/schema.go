// Package crdschema checks objects against the schemas of CRDs, and evaluates the CEL rules of these schemas.
package crdschema

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Property returns the schema of the field or map entry with this key, or nil.
func Property(s *structural.Structural, key string) *structural.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[key]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// Steps splits a simple JSON path such as ".spec.replicas" into its fields.
func Steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// place is the position of a value in an object, such as spec.replicas. It computes its path and old value on demand.
type place struct {
	above *place // the place that contains this one; nil for the whole object
	step  step   // the step from above to this place
	name  string
	index int
}

type whole struct {
	schema   *structural.Structural
	now, was any
}

// step is the kind of a step from a place to a place inside it: a field, a map entry, a list item or a schema of allOf.
type step uint8

const (
	property step = iota // a step to a field, by name
	entry                // a step to a map entry, by key
	item                 // a step to a list item, by index
	branch               // a step to a schema in allOf, for the same value
)

// path returns the path to the place, such as spec.replicas, for error messages.
func (p *place) path() *field.Path {
	if p.above == nil {
		return nil
	}
	at := p.above.path()
	switch p.step {
	case property:
		return at.Child(p.name)
	case entry:
		return at.Key(p.name)
	case item:
		return at.Index(p.index)
	}
	return at
}

func (p *place) old(of *whole) old {
	switch {
	case p.above != nil && p.step == item:
		return p.above.old(of).index(p.index)
	case p.above != nil && p.step == branch:
		return old{around: p.above.old(of).around}
	case p.above != nil:
		return p.above.old(of).key(p.name)
	case of.was != nil:
		return old{same: common.NewCorrelatedObject(of.now, of.was, &model.Structural{Structural: of.schema})}
	}
	return old{}
}

// old pairs new values with old values. same is the pair of a place, or nil if the place has no old value. around is
// the pair of the nearest parent that has an old value.
type old struct{ same, around *common.CorrelatedObject }

func (o old) key(name string) old {
	switch {
	case o.same == nil:
		return o
	case o.around == nil && (name == "apiVersion" || name == "kind"):
		return old{} // callers compare only objects with the same apiVersion and kind
	}
	return old{o.same.Key(name), o.same}
}

func (o old) index(i int) old {
	if o.same == nil {
		return o
	}
	return old{o.same.Index(i), o.same}
}

// equal reports whether the value is unchanged. Without an old value, it compares the nearest parent with an old value.
func (o old) equal() bool {
	if o.same != nil {
		return o.same.CachedDeepEqual()
	}
	return o.around.CachedDeepEqual()
}

// Rules holds the compiled x-kubernetes-validations of a schema. Check evaluates them in a fixed order. Upstream visits
// the keys of objects in random order, so its cost budget runs out at a random rule.
type Rules struct{ root *rules }

// rules holds the rules of a part of a schema (own), and the rules of its items, properties and so on.
type rules struct {
	schema     *structural.Structural
	shape      common.Schema // the shape of schema, with which the rules in own read values; nil if own is empty
	own        []rule
	usesOld    bool  // a rule in own uses oldSelf
	failed     error // why the rules cannot be compiled: they are below items of a type other than array
	allOf      []*rules
	items      *rules
	properties map[string]*rules
	additional *rules
}

type rule struct {
	apiextensionsv1.ValidationRule
	cel.CompilationResult
}

func (r *rule) text() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}

// Check evaluates the rules for an object and its old state, which may be nil. If a rule does not use oldSelf and fails
// for an unchanged value, Check only warns.
func (r *Rules) Check(s *structural.Structural, now, was any) (errs field.ErrorList, warnings []string) {
	c := &checking{whole: whole{s, now, was}, budget: celconfig.RuntimeCELCostBudget}
	c.check(r.root, &place{}, now, was)
	return c.errs, c.warnings
}

type checking struct {
	whole
	budget   int64 // remaining cost; if it is negative, no rule is evaluated
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

// Validate returns the errors in a new object.
func Validate(v validation.SchemaValidator, now any) field.ErrorList {
	return Sorted(validation.ValidateCustomResource(nil, now, v))
}

// ValidateUpdate returns the errors in the changed parts of an object. If part is set, it checks only this field.
func ValidateUpdate(v validation.SchemaValidator, s *structural.Structural, now, was any, part string) field.ErrorList {
	correlated := common.NewCorrelatedObject(now, was, &model.Structural{Structural: s})
	var at *field.Path
	if part != "" {
		now, was = now.(map[string]any)[part], was.(map[string]any)[part]
		at, correlated = field.NewPath(part), correlated.Key(part)
	}
	return Sorted(validation.ValidateCustomResourceUpdate(at, now, was, v, validation.WithRatcheting(correlated)))
}

// Sorted sorts errors, because upstream reports them in random order.
func Sorted(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return errs
}

// Memo caches values that depend only on a schema, such as compiled rules. Compiling takes milliseconds, and
// simulations start many servers with the same CRDs. Do not change cached values. Servers may share a Memo. The zero
// value is ready for use.
type Memo[T any] struct {
	mu   sync.Mutex
	made map[[sha256.Size]byte]T
	keys [][sha256.Size]byte // keys of made, oldest first
}

// mostMade is the maximum number of cached values. The oldest is dropped first.
const mostMade = 256

// Of returns the cached value for a schema at a path in a CRD. If there is none, it calls make and caches the result.
func (m *Memo[T]) Of(schema any, at string, make func() T) T {
	text, err := json.Marshal(schema)
	if err != nil {
		panic("fakeapi: a schema does not encode: " + err.Error())
	}
	key := sha256.Sum256(append(text, at...))
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := m.made[key]; ok {
		return made
	}
	made := make()
	if m.made == nil {
		m.made = map[[sha256.Size]byte]T{}
	}
	m.made[key] = made
	if m.keys = append(m.keys, key); len(m.keys) > mostMade {
		delete(m.made, m.keys[0])
		m.keys = m.keys[1:]
	}
	return made
}
