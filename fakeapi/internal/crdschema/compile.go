package crdschema

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
)

// CompileRules compiles the rules of a schema of whole objects that was accepted; nil
// when it has none.
func CompileRules(s *structural.Structural) *Rules {
	root := compileRules(s, s, true, model.SchemaDeclType(s, true))
	if root == nil {
		return nil
	}
	return &Rules{root}
}

// compileRules compiles the rules that of has, or a part of its allOf, for values of a
// schema; nil when there are none.
func compileRules(of, schema *structural.Structural, whole bool, types *apiservercel.DeclType) *rules {
	if types == nil {
		return nil // what has no type is not seen by rules
	}
	r := &rules{schema: schema, properties: map[string]*rules{}}
	if len(of.XValidations) > 0 {
		seen := schema
		if whole {
			seen = model.WithTypeAndObjectMeta(schema)
		}
		r.shape = shapeOf(seen)
		r.compile(of, types)
	}
	if of.Items != nil && schema.Items != nil {
		r.items = compileRules(of.Items, schema.Items, schema.Items.XEmbeddedResource, types.ElemType)
	}
	for name, p := range of.Properties { //detcheck:ordered each name is set once
		under, ok := schema.Properties[name]
		if !ok {
			continue
		}
		if sub := compileRules(&p, &under, under.XEmbeddedResource, typeOfField(types, name, &under)); sub != nil {
			r.properties[name] = sub
		}
	}
	if a, b := of.AdditionalProperties, schema.AdditionalProperties; a != nil && a.Structural != nil && b != nil &&
		b.Structural != nil {
		r.additional = compileRules(a.Structural, b.Structural, b.Structural.XEmbeddedResource, types.ElemType)
	}
	if of.ValueValidation != nil {
		for i := range of.ValueValidation.AllOf {
			if sub := compileRules(unnested(&of.ValueValidation.AllOf[i]), schema, whole, types); sub != nil {
				r.allOf = append(r.allOf, sub)
			}
		}
	}
	if len(r.own) == 0 && r.items == nil && r.additional == nil && len(r.properties) == 0 && len(r.allOf) == 0 {
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
		panic("fakeapi: rules were accepted, but do not compile: " + err.Error())
	}
	for i := range results {
		if results[i].Error != nil {
			panic("fakeapi: a rule was accepted, but does not compile: " + results[i].Error.Error())
		}
		r.own = append(r.own, rule{of.XValidations[i], results[i]})
		r.usesOld = r.usesOld || results[i].UsesOldSelf
	}
}

// typeOfField is the type of a field; nil when rules don't see it.
func typeOfField(types *apiservercel.DeclType, name string, schema *structural.Structural) *apiservercel.DeclType {
	escaped, ok := apiservercel.Escape(name)
	if !ok {
		return model.SchemaDeclType(schema, schema.XEmbeddedResource)
	}
	if f, ok := types.Fields[escaped]; ok {
		return f.Type
	}
	return nil
}

// unnested is a part of an allOf as a schema of its own.
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

// shape is a schema as values are read by it, made once: [model.Structural] makes its
// parts anew each time that it is asked.
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

// Properties is [common.Schema.Properties].
func (h *shape) Properties() map[string]common.Schema { return h.properties }

// Items is [common.Schema.Items].
func (h *shape) Items() common.Schema { return h.items }

// AdditionalProperties is [common.Schema.AdditionalProperties].
func (h *shape) AdditionalProperties() common.SchemaOrBool { return h.additional }

// values is the schema of the values of a map.
type values struct{ schema *shape }

func (v values) Schema() common.Schema { return v.schema }
func (v values) Allows() bool          { return true }
