package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// statements leaves out statements of a list.
func (f *finder) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if c, ok := s.X.(*ast.CallExpr); ok && !f.isPanic(c) {
				f.drop(s)
			}
		case *ast.DeferStmt, *ast.IncDecStmt:
			f.drop(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				f.drop(s)
			} else {
				f.valued(s)
			}
		case *ast.DeclStmt:
			if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
				for _, spec := range d.Specs {
					f.calls(spec.(*ast.ValueSpec).Values, s)
				}
			}
		}
	}
}

// drop leaves out a statement.
func (f *finder) drop(s ast.Stmt) {
	f.wrap(s, "if !"+switchesName+".On(%d) { ", " }", f.add(Drop, s, f.text(s)))
}

// isPanic reports whether a call ends everything: a bug of the program's own.
func (f *finder) isPanic(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	return ok && f.pkg.TypesInfo.Uses[id] == types.Universe.Lookup("panic")
}

// valued leaves out the calls of a statement whose values something else needs: they
// are zero.
func (f *finder) valued(s ast.Stmt) {
	if a, ok := s.(*ast.AssignStmt); ok {
		f.calls(a.Rhs, s)
	}
}

func (f *finder) calls(values []ast.Expr, s ast.Stmt) {
	if len(values) != 1 {
		return
	}
	c, ok := values[0].(*ast.CallExpr)
	if !ok || f.pkg.TypesInfo.Types[c.Fun].IsType() || f.makes(c) {
		return
	}
	results, ok := f.pkg.TypesInfo.TypeOf(c).(*types.Tuple)
	if !ok {
		results = types.NewTuple(types.NewVar(token.NoPos, nil, "", f.pkg.TypesInfo.TypeOf(c)))
	}
	n := results.Len()
	list, ok := f.names.of(results, n)
	if n == 0 || n > 3 || !ok {
		return
	}
	call := switchesName + ".Call%d(%d, func() (" + escape(list) + ") { return "
	f.wrap(c, call, " })", n, f.add(Nothing, s, strings.TrimSuffix(f.text(s), ";")))
}

// makes reports whether a call makes something that is nothing without it.
func (f *finder) makes(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := f.pkg.TypesInfo.Uses[id].(*types.Builtin)
	return ok && (b.Name() == "make" || b.Name() == "new")
}

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

// forMutants reports whether a function is one that nothing but the mutants made by hand calls:
// all that is said of it in its package stands in branches for them.
func (f *finder) forMutants(d *ast.FuncDecl) bool {
	of, said, lives := f.pkg.TypesInfo.Defs[d.Name], false, false
	for _, file := range f.pkg.Syntax {
		f.uses(file, false, func(what *ast.Ident, dead bool) {
			if f.pkg.TypesInfo.Uses[what] == of {
				said, lives = true, lives || !dead
			}
		})
	}
	return said && !lives
}

// uses calls say for each name that stands below a node, and says whether only mutants made by hand
// get there.
func (f *finder) uses(root ast.Node, dead bool, say func(name *ast.Ident, dead bool)) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			say(n, dead)
		case *ast.CaseClause:
			if f.never(n) && !dead {
				f.uses(n, true, say)
				return false
			}
		case *ast.IfStmt:
			v, ok := f.settled(n.Cond)
			if !ok || dead {
				return true
			}
			for _, part := range []struct {
				ast.Node
				dead bool
			}{{n.Init, false}, {n.Cond, false}, {n.Body, !v}, {n.Else, v}} {
				if part.Node != nil {
					f.uses(part.Node, part.dead, say)
				}
			}
			return false
		}
		return true
	})
}
