package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

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

func (f *finder) drop(s ast.Stmt) {
	f.wrap(s, "if !"+switchesName+".On(%d) { ", " }", f.add(Drop, s, f.text(s)))
}

// isPanic reports whether c calls panic. Such a call is not mutated, because it reports a bug of the program itself.
func (f *finder) isPanic(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	return ok && f.pkg.TypesInfo.Uses[id] == types.Universe.Lookup("panic")
}

// valued mutates an assignment of a call's results: the call is omitted, and the results are zero values.
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

func (f *finder) makes(c *ast.CallExpr) bool {
	id, ok := c.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := f.pkg.TypesInfo.Uses[id].(*types.Builtin)
	return ok && (b.Name() == "make" || b.Name() == "new")
}

// settled returns the value of a condition that is constant in a controller with all guards, where each bool field of a
// struct Without... is false. ok is false for other conditions.
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

// never reports whether only handmade mutants reach a case.
func (f *finder) never(n *ast.CaseClause) bool {
	return len(n.List) > 0 && !slices.ContainsFunc(n.List, func(cond ast.Expr) bool {
		v, ok := f.settled(cond)
		return v || !ok
	})
}

// isGuard reports whether e is a bool field of a struct whose name begins with Without. Only handmade mutants set one.
func (f *finder) isGuard(e *ast.SelectorExpr) bool {
	t := f.pkg.TypesInfo.TypeOf(e.X)
	return t != nil && f.isBool(e) && isGuards(t)
}

func isGuards(t types.Type) bool {
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	n, is := t.(*types.Named)
	return is && strings.HasPrefix(n.Obj().Name(), "Without")
}

// idle reports whether it makes no difference to omit left, one operand of && or ||. kept is the other operand.
func (f *finder) idle(op token.Token, left, kept ast.Expr) bool {
	decides := op == token.LOR
	if v, ok := f.settled(left); ok && v != decides {
		return true // left never decides the result
	}
	v, ok := f.settled(kept)
	return ok && v == decides // kept always decides the result
}

// forMutants reports whether only handmade mutants call a function.
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

// The method uses calls the function say for each identifier below a node. The argument dead says whether only handmade
// mutants reach the identifier.
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
