package mutate

import (
	"go/ast"
	"go/token"
	"go/types"
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
