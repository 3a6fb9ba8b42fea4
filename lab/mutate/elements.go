package mutate

import (
	"go/ast"
	"go/types"
	"slices"
)

// composite leaves out elements: fields, entries and what is in lists.
func (f *finder) composite(n *ast.CompositeLit) {
	if len(n.Elts) == 0 {
		return
	}
	t := f.pkg.TypesInfo.TypeOf(n).Underlying()
	if _, ok := t.(*types.Slice); ok {
		f.list(n)
		return
	}
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if c, ok := kv.Value.(*ast.CompositeLit); ok && c.Type == nil {
			continue // what has no type of its own cannot be handed on
		}
		var of types.Type
		switch t := t.(type) {
		case *types.Struct:
			of = f.pkg.TypesInfo.ObjectOf(kv.Key.(*ast.Ident)).Type()
		case *types.Map:
			of = t.Elem()
		default:
			continue
		}
		if isGuards(of) {
			continue // and its name is not to be imported
		}
		if name, ok := f.names.name(of); ok {
			f.wrap(kv.Value, switchesName+".Elem["+escape(name)+"](%d, ", ")", f.add(Without, kv, f.text(kv)))
		}
	}
}

// list leaves out elements of a list.
func (f *finder) list(n *ast.CompositeLit) {
	keyed := func(e ast.Expr) bool {
		_, is := e.(*ast.KeyValueExpr)
		return is
	}
	if n.Type == nil || slices.ContainsFunc(n.Elts, keyed) {
		return
	}
	first := f.next
	for _, e := range n.Elts {
		f.add(Without, e, f.text(e))
	}
	f.wrap(n, switchesName+".Slice(%d, ", ")", first)
}
