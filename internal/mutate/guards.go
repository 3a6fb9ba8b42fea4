package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// settled is the value of a condition in a controller that has all its guards, where that is
// all it depends on: a field of a Without is false. What only the mutants made by hand do is
// not mutated, nor what makes no difference but for them.
func (f *finder) settled(e ast.Expr) (value, ok bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.settled(e.X)
	case *ast.UnaryExpr:
		value, ok = f.settled(e.X)
		return !value, ok && e.Op == token.NOT
	case *ast.SelectorExpr:
		return false, f.isGuard(e)
	case *ast.BinaryExpr:
		if e.Op != token.LAND && e.Op != token.LOR {
			return false, false
		}
		decides := e.Op == token.LOR
		x, xok := f.settled(e.X)
		y, yok := f.settled(e.Y)
		if xok && x == decides || yok && y == decides {
			return decides, true
		}
		return !decides, xok && yok
	}
	return false, false
}

// never reports whether a case is for mutants alone.
func (f *finder) never(n *ast.CaseClause) bool {
	return len(n.List) > 0 && !slices.ContainsFunc(n.List, func(cond ast.Expr) bool {
		v, ok := f.settled(cond)
		return v || !ok
	})
}

// isGuard reports whether a field is one of a struct of guards that are left out.
func (f *finder) isGuard(e *ast.SelectorExpr) bool {
	t := f.pkg.TypesInfo.TypeOf(e.X)
	return t != nil && f.isBool(e) && isGuards(t)
}

// isGuards reports whether a type is a struct of guards, or a pointer to one.
func isGuards(t types.Type) bool {
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	n, is := t.(*types.Named)
	return is && strings.HasPrefix(n.Obj().Name(), "Without")
}

// idle reports whether it makes no difference that an operand of && or || is left out, or
// that nothing but the other one is.
func (f *finder) idle(op token.Token, left, kept ast.Expr) bool {
	decides := op == token.LOR
	if v, ok := f.settled(left); ok && v != decides {
		return true // it never decides
	}
	v, ok := f.settled(kept)
	return ok && v == decides // the other one always does
}
