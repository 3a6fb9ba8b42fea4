package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// expr fails the loop for effects inside an expression: calls of parameters
// and of Pick, receives, and what function literals change.
func (l *loop) expr(e ast.Expr) {
	if e == nil {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			l.block(n.Body.List, scope{closure: true, inner: true})
			return false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				l.fail(n, "it receives from a channel in map order")
			}
		case *ast.CallExpr:
			if id := ident(n.Fun); id != nil && l.params[l.TypesInfo.Uses[id]] {
				l.fail(n, "it calls %s, which sees the entries in map order", id.Name)
			}
			if f := l.callee(n); f != nil && f.Name() == "Pick" {
				l.fail(n, "it draws choices in map order")
			}
		}
		return true
	})
}

// index judges the index expressions inside a target.
func (l *loop) index(lhs ast.Expr) {
	ast.Inspect(lhs, func(n ast.Node) bool {
		if ix, ok := n.(*ast.IndexExpr); ok {
			l.expr(ix.Index)
		}
		return true
	})
}

// object is the object an identifier defines or uses.
func (c *checker) object(e ast.Expr) types.Object {
	id := ident(e)
	if id == nil {
		return nil
	}
	return c.TypesInfo.ObjectOf(id)
}

// root is the variable at the bottom of x.f, x[i], *x; nil when there is none.
func (c *checker) root(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return c.TypesInfo.ObjectOf(e)
	case *ast.SelectorExpr:
		if id := ident(e.X); id != nil {
			if _, ok := c.TypesInfo.Uses[id].(*types.PkgName); ok {
				return c.TypesInfo.Uses[e.Sel]
			}
		}
		return c.root(e.X)
	case *ast.IndexExpr:
		return c.root(e.X)
	case *ast.SliceExpr:
		return c.root(e.X)
	case *ast.StarExpr:
		return c.root(e.X)
	case *ast.TypeAssertExpr:
		return c.root(e.X)
	}
	return nil
}

// inside reports whether an object is declared in the loop.
func (l *loop) inside(obj types.Object) bool {
	return obj != nil && l.stmt.Pos() <= obj.Pos() && obj.Pos() < l.stmt.End()
}

// isEntry reports whether an object is the loop's variable for the map's value.
func (l *loop) isEntry(obj types.Object) bool {
	return obj != nil && (obj == l.object(l.stmt.Value) || !l.keyed && obj == l.object(l.stmt.Key))
}

// private reports whether a target belongs to this turn of the loop alone: a
// variable of the body, the entry itself, or something the body made.
func (l *loop) private(e ast.Expr) bool {
	root := l.root(e)
	return l.inside(root) && (l.isEntry(root) || !l.through(e) || l.all(root, l.makes))
}

// through reports whether a target lies behind a pointer, map, slice or
// interface.
func (l *loop) through(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SelectorExpr:
		_, ptr := l.TypesInfo.TypeOf(e.X).Underlying().(*types.Pointer)
		return ptr || l.through(e.X)
	case *ast.IndexExpr:
		_, array := l.TypesInfo.TypeOf(e.X).Underlying().(*types.Array)
		return !array || l.through(e.X)
	case *ast.Ident:
		switch l.TypesInfo.TypeOf(e).Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Interface:
			return true
		}
		return false
	}
	return true
}

// all reports whether every value given to a variable of the body passes.
func (l *loop) all(obj types.Object, pass func(ast.Expr) bool) bool {
	ok := true
	judge := func(name, value ast.Expr) {
		if l.object(name) == obj && !pass(value) {
			ok = false
		}
	}
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, x := range n.Lhs {
				judge(x, n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.ValueSpec:
			for i, x := range n.Names {
				if len(n.Values) > 0 {
					judge(x, n.Values[min(i, len(n.Values)-1)])
				}
			}
		case *ast.RangeStmt:
			if n.Value != nil {
				judge(n.Value, n.X)
			}
			if n.Key != nil {
				judge(n.Key, n.X)
			}
		}
		return ok
	})
	return ok
}

// made reports whether an expression makes a new value.
func (l *loop) made(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return e.Op == token.AND && l.made(e.X)
	case *ast.Ident:
		return l.TypesInfo.Types[e].IsNil()
	case *ast.TypeAssertExpr:
		return l.made(e.X)
	case *ast.CallExpr:
		if b := l.builtin(e); b != "" {
			return b == "make" || b == "new" || b == "append" && l.makes(e.Args[0])
		}
		f := l.callee(e)
		return f != nil && strings.HasPrefix(f.Name(), "DeepCopy") || from(f, "slices", "Clone") ||
			from(f, "maps", "Clone")
	}
	return false
}

// makes reports whether an expression makes a new value or is part of the entry.
func (l *loop) makes(e ast.Expr) bool {
	if l.made(e) || l.isEntry(l.root(e)) {
		return true
	}
	ix, ok := ast.Unparen(e).(*ast.IndexExpr)
	return ok && types.ExprString(ix.X) == l.over && l.distinct(ix.Index)
}

// distinct reports whether an expression has another value in each turn: the
// key, and what can be turned back into it.
func (l *loop) distinct(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return l.keyed && l.stmt.Key != nil && e.Name != "_" && l.object(e) == l.object(l.stmt.Key)
	case *ast.BinaryExpr:
		if e.Op != token.ADD || !l.basic(e, types.IsInteger|types.IsString) {
			return false
		}
		return l.distinct(e.X) && !l.varies(e.Y) || l.distinct(e.Y) && !l.varies(e.X)
	case *ast.CompositeLit:
		for _, x := range e.Elts {
			if kv, ok := x.(*ast.KeyValueExpr); ok {
				x = kv.Value
			}
			if l.distinct(x) {
				return true
			}
		}
	case *ast.CallExpr:
		if len(e.Args) != 1 || !l.TypesInfo.Types[e.Fun].IsType() {
			return false
		}
		to, of := l.TypesInfo.TypeOf(e.Fun).Underlying(), l.TypesInfo.TypeOf(e.Args[0]).Underlying()
		return types.Identical(to, of) && l.distinct(e.Args[0])
	}
	return false
}

// element reports whether a target has an index that is another one in each
// turn, and returns the collection it indexes.
func (l *loop) element(e ast.Expr) (ast.Expr, bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		if l.distinct(e.Index) {
			// Adding to the map that is ranged over is another matter.
			own := types.ExprString(e.X) != l.over || l.object(e.Index) != nil
			return e.X, own
		}
		return l.element(e.X)
	case *ast.SelectorExpr:
		return l.element(e.X)
	case *ast.StarExpr:
		return l.element(e.X)
	}
	return nil, false
}

// varies reports whether a value may differ from turn to turn.
func (l *loop) varies(e ast.Expr) bool {
	found := false
	if e == nil {
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && l.inside(l.TypesInfo.Uses[id]) {
			found = true
		}
		return !found
	})
	return found
}
