package crdschema

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// place is where in an object a part is. What it is called, and with what it is compared, is
// worked out where a rule does not hold: most do.
type place struct {
	above *place // nil of the whole object
	step  step   // how one comes from there
	name  string
	index int
}

// whole is an object, what it was, and its schema.
type whole struct {
	schema   *structural.Structural
	now, was any
}

// step is a way from one part of an object to one within it.
type step uint8

const (
	property step = iota // by the name of a field
	entry                // by the key of a map
	item                 // by the index of a list
	branch               // to what one part of an allOf says of it
)

// path is the place as errors name it.
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

// old is what the part of an object is compared with.
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

// equal says whether the part is as it was.
func (o old) equal() bool {
	if o.same != nil {
		return o.same.CachedDeepEqual()
	}
	return o.around.CachedDeepEqual()
}
