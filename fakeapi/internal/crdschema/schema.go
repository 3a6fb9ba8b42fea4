// Package crdschema finds values that violate the schema of a CRD.
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

// Property returns the schema of a key of an object, or nil.
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

// Steps splits a simple path like ".spec.replicas".
func Steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// place is the position of a part in an object. Its path and old value are computed only if they are needed.
type place struct {
	above *place // nil for the whole object
	step  step   // the step from above to here
	name  string
	index int
}

type whole struct {
	schema   *structural.Structural
	now, was any
}

// step is one step from a part of an object into it.
type step uint8

const (
	property step = iota // by the name of a field
	entry                // by the key of a map
	item                 // by the index of a list
	branch               // into one part of an allOf
)

// path returns the place in the form of error messages.
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

// old is the value with which a part is compared: its own old value, or the old value of the nearest enclosing part
// that has one.
type old struct{ same, around *common.CorrelatedObject }

func (o old) key(name string) old {
	switch {
	case o.same == nil:
		return o
	case o.around == nil && (name == "apiVersion" || name == "kind"):
		return old{} // the caller makes them equal before it compares
	}
	return old{o.same.Key(name), o.same}
}

func (o old) index(i int) old {
	if o.same == nil {
		return o
	}
	return old{o.same.Index(i), o.same}
}

// equal reports whether the part is unchanged.
func (o old) equal() bool {
	if o.same != nil {
		return o.same.CachedDeepEqual()
	}
	return o.around.CachedDeepEqual()
}

// Rules are the compiled x-kubernetes-validations of a schema. They are evaluated in a fixed order. Upstream visits
// objects in random map order, so the cost budget runs out at a random rule.
type Rules struct{ root *rules }

// rules are the rules of one part of a schema and of the parts below it.
type rules struct {
	schema     *structural.Structural
	shape      common.Schema // the type of its values, as rules see them
	own        []rule
	usesOld    bool // one of its own rules uses oldSelf
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

// Check evaluates the rules on an object and its old state, if any. Violations in unchanged parts are warnings.
func (r *Rules) Check(s *structural.Structural, now, was any) (errs field.ErrorList, warnings []string) {
	c := &checking{whole: whole{s, now, was}, budget: celconfig.RuntimeCELCostBudget}
	c.check(r.root, &place{}, now, was)
	return c.errs, c.warnings
}

type checking struct {
	whole
	budget   int64 // remaining cost; below 0, evaluation stops
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

// checkKeys checks the values of a map in key order.
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

// Validate validates a new object of a schema.
func Validate(v validation.SchemaValidator, now any) field.ErrorList {
	return Sorted(validation.ValidateCustomResource(nil, now, v))
}

// ValidateUpdate validates the new state of an object or of its status. Errors in unchanged parts do not count.
func ValidateUpdate(v validation.SchemaValidator, s *structural.Structural, now, was any, part string) field.ErrorList {
	correlated := common.NewCorrelatedObject(now, was, &model.Structural{Structural: s})
	var at *field.Path
	if part != "" {
		now, was = now.(map[string]any)[part], was.(map[string]any)[part]
		at, correlated = field.NewPath(part), correlated.Key(part)
	}
	return Sorted(validation.ValidateCustomResourceUpdate(at, now, was, v, validation.WithRatcheting(correlated)))
}

// Sorted sorts findings, because validation ranges over maps.
func Sorted(errs field.ErrorList) field.ErrorList {
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return errs
}

// Memo caches values that are computed from a schema alone, because compiling rules takes milliseconds and exploration
// starts many worlds. Cached values must not be changed. The zero value is ready, and servers share it.
type Memo[T any] struct {
	mu   sync.Mutex
	made map[[sha256.Size]byte]T
	keys [][sha256.Size]byte // oldest first
}

// mostMade limits the cached results; the oldest is dropped first.
const mostMade = 256

// Of returns the result of make for a schema at a place in a CRD. It calls make once for equal arguments.
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
