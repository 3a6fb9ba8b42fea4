package detcheck

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"strings"
)

// loop is one range over a map while it is judged.
type loop struct {
	*checker
	stmt   *ast.RangeStmt
	over   string // the map, as written
	keyed  bool   // the first variable is the map's key: another one in each turn
	label  string
	fn     *ast.BlockStmt
	params map[types.Object]bool

	writes []write
	exits  []exit
	first  *problem
}

// problem is why the order escapes, and where.
type problem struct {
	pos token.Pos
	why string
}

// write is one change to something that outlives the turn of the loop.
type write struct {
	target string // as written, without the index for elements
	root   types.Object
	class  string // writes of one class to one target commute
	own    []ast.Expr
	block  []ast.Stmt
	pos    token.Pos
}

// exit is a statement that ends the loop early.
type exit struct {
	text  string
	block []ast.Stmt
	pos   token.Pos
}

func (l *loop) fail(at ast.Node, format string, args ...any) {
	if l.first == nil {
		l.first = &problem{at.Pos(), fmt.Sprintf(format, args...)}
	}
}

// check returns nil when the order of the loop's turns cannot matter.
func (l *loop) check() *problem {
	if l.stmt.Tok == token.ASSIGN {
		return &problem{l.stmt.Pos(), "the last entry visited stays in the loop's variables"}
	}
	l.block(l.stmt.Body.List, scope{})
	if l.first == nil {
		l.reads()
	}
	if l.first == nil {
		l.mixes()
	}
	if l.first == nil {
		l.leaves()
	}
	return l.first
}

// scope says what surrounds a statement inside the loop.
type scope struct {
	inner   bool // an inner loop or switch takes an unlabelled break
	closure bool // inside a function literal: return ends only that
	block   []ast.Stmt
}

func (l *loop) block(list []ast.Stmt, in scope) {
	in.block = list
	for _, s := range list {
		l.statement(s, in)
	}
}

func (l *loop) statement(s ast.Stmt, in scope) {
	nested := in
	nested.inner = true
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
	case *ast.BlockStmt:
		l.block(s.List, in)
	case *ast.LabeledStmt:
		l.statement(s.Stmt, in)
	case *ast.IfStmt:
		if l.keepsExtreme(s, in) {
			return
		}
		l.statement(s.Init, in)
		l.expr(s.Cond)
		l.block(s.Body.List, in)
		l.statement(s.Else, in)
	case *ast.ForStmt:
		l.statement(s.Init, nested)
		l.expr(s.Cond)
		l.statement(s.Post, nested)
		l.block(s.Body.List, nested)
	case *ast.RangeStmt:
		l.expr(s.X)
		l.block(s.Body.List, nested)
	case *ast.SwitchStmt:
		l.statement(s.Init, nested)
		l.expr(s.Tag)
		l.block(s.Body.List, nested)
	case *ast.TypeSwitchStmt:
		l.statement(s.Init, nested)
		l.block(s.Body.List, nested)
	case *ast.CaseClause:
		for _, e := range s.List {
			l.expr(e)
		}
		l.block(s.Body, in)
	default:
		l.simple(s, in)
	}
}

// simple judges a statement without statements in it.
func (l *loop) simple(s ast.Stmt, in scope) {
	switch s := s.(type) {
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, e := range v.Values {
					l.expr(e)
				}
			}
		}
	case *ast.AssignStmt:
		l.assign(s, in)
	case *ast.IncDecStmt:
		l.store(s.X, nil, token.ADD_ASSIGN, in)
	case *ast.ExprStmt:
		l.effect(s, in)
	case *ast.BranchStmt:
		l.branch(s, in)
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			l.expr(e)
			if !in.closure && l.varies(e) {
				l.fail(s, "which entry's %s is returned depends on which is visited first", types.ExprString(e))
			}
		}
		if !in.closure {
			l.exits = append(l.exits, exit{"return" + l.texts(s.Results), in.block, s.Pos()})
		}
	default:
		l.fail(s, "%s happens in map order", kindOf(s))
	}
}

func kindOf(s ast.Stmt) string {
	switch s.(type) {
	case *ast.SendStmt:
		return "a send"
	case *ast.DeferStmt:
		return "a defer"
	case *ast.GoStmt:
		return "a go statement"
	}
	return "a statement with effects"
}

func (l *loop) texts(list []ast.Expr) (s string) {
	for _, e := range list {
		s += " " + l.source(e)
	}
	return s
}

// source is an expression in full; types.ExprString leaves out what is in
// literals.
func (l *loop) source(e ast.Expr) string {
	var b strings.Builder
	if err := format.Node(&b, l.Fset, e); err != nil {
		panic("detcheck: cannot print an expression that was parsed: " + err.Error())
	}
	return b.String()
}

func (l *loop) branch(s *ast.BranchStmt, in scope) {
	switch {
	case s.Tok == token.CONTINUE && (s.Label == nil || s.Label.Name == l.label || l.labelInside(s.Label)):
	case s.Tok == token.BREAK && s.Label == nil && in.inner:
	case s.Tok == token.BREAK && s.Label != nil && l.labelInside(s.Label):
	case s.Tok == token.FALLTHROUGH:
	case s.Label != nil && s.Label.Name != l.label:
		l.exits = append(l.exits, exit{s.Tok.String() + " " + s.Label.Name, in.block, s.Pos()})
	default:
		l.exits = append(l.exits, exit{s.Tok.String(), in.block, s.Pos()})
	}
}

func (l *loop) labelInside(label *ast.Ident) bool {
	obj := l.TypesInfo.Uses[label]
	return obj != nil && l.inside(obj)
}

// reads fails the loop when it looks at something that earlier turns changed.
func (l *loop) reads() {
	own := map[ast.Node]bool{}
	for _, w := range l.writes {
		for _, e := range w.own {
			own[e] = true
		}
	}
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok || own[n] || l.first != nil {
			return l.first == nil && !own[n]
		}
		ix, element := e.(*ast.IndexExpr)
		if element = element && l.distinct(ix.Index); element {
			e = ix.X
		}
		text := types.ExprString(e)
		for _, w := range l.writes {
			if text != w.target || l.root(e) != w.root || element && w.class == "element" {
				continue // another target, or an element that only this turn touches
			}
			l.fail(e, "it reads %s, which earlier turns changed", text)
		}
		return !element
	})
}

// mixes fails the loop when one target is changed in ways that do not commute.
func (l *loop) mixes() {
	for i, w := range l.writes {
		for _, v := range l.writes[:i] {
			if v.target == w.target && v.root == w.root && v.class != w.class {
				l.first = &problem{w.pos, w.target + " is changed in two ways that do not commute"}
				return
			}
		}
	}
}

// leaves fails the loop when it can end early and what it did until then, or
// how it ended, depends on the entries visited first.
func (l *loop) leaves() {
	if len(l.exits) == 0 {
		return
	}
	for _, e := range l.exits[1:] {
		if e.text != l.exits[0].text || len(l.writes) > 0 {
			l.first = &problem{e.pos, "which way it leaves depends on which entry is visited first"}
			return
		}
	}
	for _, w := range l.writes {
		if len(w.block) == 0 || &w.block[0] != &l.exits[0].block[0] {
			l.first = &problem{l.exits[0].pos,
				"it leaves early, and " + w.target + " depends on the entries visited before"}
			return
		}
	}
}
