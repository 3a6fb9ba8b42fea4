package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// assign judges an assignment or a short variable declaration.
func (l *loop) assign(s *ast.AssignStmt, in scope) {
	for i, lhs := range s.Lhs {
		rhs := s.Rhs[min(i, len(s.Rhs)-1)]
		if s.Tok == token.DEFINE && l.TypesInfo.Defs[ident(lhs)] != nil {
			l.expr(rhs)
			continue
		}
		l.store(lhs, rhs, s.Tok, in)
	}
}

func ident(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// store judges one change of one variable, field or element. A nil rhs is the
// constant 1.
func (l *loop) store(lhs, rhs ast.Expr, tok token.Token, in scope) {
	l.expr(rhs)
	if id := ident(lhs); id != nil && id.Name == "_" {
		return
	}
	if ident(lhs) != nil && l.inside(l.root(lhs)) || l.private(lhs) {
		l.index(lhs)
		return
	}
	w := write{target: types.ExprString(lhs), root: l.root(lhs), own: []ast.Expr{lhs}, block: in.block, pos: lhs.Pos()}
	if w.root == nil {
		l.fail(lhs, "what %s changes is not known", w.target)
		return
	}
	if base, ok := l.element(lhs); ok {
		w.target, w.class = types.ExprString(base), "element"
		l.writes = append(l.writes, w)
		return
	}
	l.index(lhs)
	if ix, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && isMap(l.TypesInfo.TypeOf(ix.X)) &&
		types.ExprString(ix.X) == l.over {
		l.fail(lhs, "it adds elements to the map it ranges over, which may or may not be visited")
		return
	}
	own, class := l.fold(lhs, rhs, tok)
	if class == "" {
		l.fail(lhs, "%s", l.why(lhs, rhs, tok))
		return
	}
	w.class, w.own = class, append(w.own, own...)
	if ix, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok {
		w.target = types.ExprString(ix.X)
	}
	l.writes = append(l.writes, w)
}

// why says what is wrong with a store that does not commute.
func (l *loop) why(lhs, rhs ast.Expr, tok token.Token) string {
	text := types.ExprString(lhs)
	if a := rhs != nil && l.appended(lhs, rhs) != nil; a {
		if p := l.sortedNext(lhs, l.fn, l.stmt.End()); p != nil {
			return "it appends to " + text + ", and " + p.why
		}
	}
	if _, ok := ast.Unparen(lhs).(*ast.IndexExpr); ok && tok == token.ASSIGN {
		return "several entries may write " + text + ", and the last one visited stays"
	}
	if tok == token.ASSIGN {
		return "the last entry visited stays in " + text
	}
	return text + " " + tok.String() + " does not commute for " + l.TypesInfo.TypeOf(lhs).String()
}

// fold recognises changes that commute with themselves. It returns the
// expressions in which the target may be read, and the class of the change.
func (l *loop) fold(lhs, rhs ast.Expr, tok token.Token) ([]ast.Expr, string) {
	if tok != token.ASSIGN {
		return nil, l.commutes(lhs, strings.TrimSuffix(tok.String(), "="))
	}
	text := types.ExprString(lhs)
	switch r := ast.Unparen(rhs).(type) {
	case *ast.BinaryExpr:
		if class := l.commutes(lhs, r.Op.String()); class != "" {
			if types.ExprString(r.X) == text {
				return []ast.Expr{r.X}, class
			}
			if types.ExprString(r.Y) == text && r.Op != token.SUB {
				return []ast.Expr{r.Y}, class
			}
		}
	case *ast.CallExpr:
		switch b := l.builtin(r); b {
		case "append":
			if l.appended(lhs, rhs) != nil && l.sortedNext(lhs, l.fn, l.stmt.End()) == nil {
				return []ast.Expr{r.Args[0]}, "append"
			}
			return nil, ""
		case "min", "max":
			for _, a := range r.Args {
				if types.ExprString(a) == text && l.basic(lhs, types.IsInteger|types.IsString) {
					return []ast.Expr{a}, b
				}
			}
		}
	}
	if !l.varies(rhs) {
		return nil, "= " + l.source(rhs)
	}
	return nil, ""
}

// commutes returns the class of an operator whose repeated application to the
// variable does not depend on the order, "" for others.
func (l *loop) commutes(lhs ast.Expr, op string) string {
	switch op {
	case "+", "-":
		op = "+"
	case "&", "&^":
		op = "&"
	case "|", "^", "*":
	case "&&", "||":
		return op
	default:
		return ""
	}
	if !l.basic(lhs, types.IsInteger) {
		return ""
	}
	return op
}

func (l *loop) basic(e ast.Expr, info types.BasicInfo) bool {
	b, ok := l.TypesInfo.TypeOf(e).Underlying().(*types.Basic)
	return ok && b.Info()&info != 0
}

// keepsExtreme recognises "if e < x { x = e }", a minimum or maximum by hand.
func (l *loop) keepsExtreme(s *ast.IfStmt, in scope) bool {
	cond, ok := ast.Unparen(s.Cond).(*ast.BinaryExpr)
	if !ok || s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
		return false
	}
	set, ok := s.Body.List[0].(*ast.AssignStmt)
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 {
		return false
	}
	x, e, seen, op := set.Lhs[0], set.Rhs[0], cond.Y, cond.Op
	switch {
	case same(cond.X, e) && same(cond.Y, x):
	case same(cond.X, x) && same(cond.Y, e):
		seen, op = cond.X, mirror(op)
	default:
		return false
	}
	class := map[token.Token]string{token.LSS: "min", token.LEQ: "min", token.GTR: "max", token.GEQ: "max"}[op]
	if class == "" || !l.basic(x, types.IsInteger|types.IsString) || l.root(x) == nil || l.private(x) {
		return false
	}
	l.expr(e)
	l.writes = append(l.writes, write{target: types.ExprString(x), root: l.root(x), class: class,
		own: []ast.Expr{x, seen}, block: in.block, pos: x.Pos()})
	return true
}

func same(a, b ast.Expr) bool { return types.ExprString(a) == types.ExprString(b) }

func mirror(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.LEQ:
		return token.GEQ
	case token.GTR:
		return token.LSS
	case token.GEQ:
		return token.LEQ
	}
	return op
}

// effect judges a call that stands as a statement.
func (l *loop) effect(s *ast.ExprStmt, in scope) {
	call, ok := ast.Unparen(s.X).(*ast.CallExpr)
	if !ok {
		l.fail(s, "it receives from a channel in map order")
		return
	}
	for _, a := range call.Args {
		l.expr(a)
	}
	f := l.callee(call)
	switch b := l.builtin(call); {
	case b == "panic":
		return
	case b == "delete", b == "clear" && l.private(call.Args[0]):
		l.remove(call, in)
		return
	case l.isSort(call) && len(call.Args) > 0 && l.private(call.Args[0]):
		return
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if ok && f != nil && f.Signature().Recv() != nil {
		if root := l.root(sel.X); l.inside(root) && !l.isEntry(root) && (!l.through(sel.X) || l.all(root, l.made)) {
			return // changes only what this turn made
		}
		set := f.Pkg() != nil && strings.HasSuffix(f.Pkg().Path(), "/util/sets")
		if set && (f.Name() == "Insert" || f.Name() == "Delete") {
			l.writes = append(l.writes, write{target: types.ExprString(sel.X), root: l.root(sel.X),
				class: f.Name(), own: []ast.Expr{sel.X}, block: in.block, pos: s.Pos()})
			return
		}
	}
	if ok && from(f, "github.com/google/btree", "ReplaceOrInsert", "Delete") && len(call.Args) == 1 &&
		l.distinct(call.Args[0]) {
		l.writes = append(l.writes, write{target: types.ExprString(sel.X), root: l.root(sel.X),
			class: "element", own: []ast.Expr{sel.X}, block: in.block, pos: s.Pos()})
		return
	}
	l.fail(s, "the effects of %s happen in map order", types.ExprString(call.Fun))
}

// remove judges delete and clear.
func (l *loop) remove(call *ast.CallExpr, in scope) {
	m := call.Args[0]
	if l.private(m) {
		return
	}
	class := "delete"
	if len(call.Args) > 1 && l.distinct(call.Args[1]) {
		class = "element"
	} else if types.ExprString(m) == l.over {
		l.fail(call, "it deletes other elements of the map it ranges over, which may or may not have been visited")
	}
	l.writes = append(l.writes, write{target: types.ExprString(m), root: l.root(m), class: class,
		own: []ast.Expr{m}, block: in.block, pos: call.Pos()})
}
