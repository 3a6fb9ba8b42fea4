package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// loop is one range over a map while it is checked.
type loop struct {
	*checker
	cur    inspector.Cursor
	stmt   *ast.RangeStmt
	key    string         // the variable of the map's key, "" if there is none
	writes map[string]int // what the body changes, with the number of mentions that the changes account for
	result string         // what the body returns
}

// check returns a node whose effect may depend on the order of the turns, nil if there is none.
func (l *loop) check() ast.Node {
	if l.stmt.Tok == token.ASSIGN {
		return l.stmt // the loop's variables keep the last entry
	}
	if bad := l.hidden(); bad != nil {
		return bad
	}
	if bad := l.block(l.stmt.Body.List); bad != nil {
		return bad
	}
	if l.result != "" && len(l.writes) > 0 {
		return l.stmt // how much is written before it returns depends on the order
	}
	for target, n := range l.writes {
		if mentions(l.stmt.Body, target) > n {
			return l.stmt // it reads what earlier turns wrote
		}
	}
	return nil
}

// hidden returns an effect inside an expression: a call of a function variable or of Pick, a receive,
// or a function literal that does more than return a value.
func (l *loop) hidden() (bad ast.Node) {
	ast.Inspect(l.stmt.Body, func(n ast.Node) bool {
		ok := true
		switch n := n.(type) {
		case *ast.CallExpr:
			name, _ := n.Fun.(*ast.Ident)
			_, variable := l.TypesInfo.Uses[name].(*types.Var)
			f := l.callee(n)
			ok = !variable && (f == nil || f.Name() != "Pick")
		case *ast.UnaryExpr:
			ok = n.Op != token.ARROW
		case *ast.FuncLit:
			ok = len(n.Body.List) == 1 && isReturn(n.Body.List[0])
		}
		if !ok && bad == nil {
			bad = n
		}
		return true
	})
	return bad
}

func isReturn(s ast.Stmt) bool {
	_, ok := s.(*ast.ReturnStmt)
	return ok
}

func (l *loop) block(list []ast.Stmt) ast.Node {
	for _, s := range list {
		if bad := l.statement(s); bad != nil {
			return bad
		}
	}
	return nil
}

// statement returns the part of a statement that does not commute with itself in another turn.
func (l *loop) statement(s ast.Stmt) ast.Node {
	ok := false
	switch s := s.(type) {
	case nil:
		return nil
	case *ast.BlockStmt:
		return l.block(s.List)
	case *ast.IfStmt:
		for _, part := range []ast.Stmt{s.Init, s.Body, s.Else} {
			if bad := l.statement(part); bad != nil {
				return bad
			}
		}
		return nil
	case *ast.RangeStmt:
		if s.Tok != token.ASSIGN {
			return l.statement(s.Body)
		}
	case *ast.DeclStmt:
		ok = true
	case *ast.BranchStmt:
		ok = s.Tok == token.CONTINUE
	case *ast.IncDecStmt:
		ok = l.sum(s.X)
	case *ast.AssignStmt:
		ok = l.assign(s)
	case *ast.ReturnStmt:
		ok = l.returns(s)
	case *ast.ExprStmt:
		ok = l.call(s)
	}
	if ok {
		return nil
	}
	return s
}

// sum allows x++ and x += y for integers.
func (l *loop) sum(x ast.Expr) bool {
	if b, ok := l.TypesInfo.TypeOf(x).Underlying().(*types.Basic); !ok || b.Info()&types.IsInteger == 0 {
		return false
	}
	if !l.local(x) {
		l.writes[types.ExprString(x)]++
	}
	return true
}

// assign allows new and local variables, sums, elements under the range key, and appending to a slice
// that is sorted next.
func (l *loop) assign(s *ast.AssignStmt) bool {
	if s.Tok == token.DEFINE {
		return true
	}
	if s.Tok == token.ADD_ASSIGN && l.sum(s.Lhs[0]) {
		return true
	}
	if x := l.appends(s); x != "" && l.sortedNext(l.cur, x) {
		l.writes[x] += 2
		return true
	}
	for _, x := range s.Lhs {
		ix, ok := ast.Unparen(x).(*ast.IndexExpr)
		if !l.local(x) && !(ok && l.element(ix.X, ix.Index)) {
			return false
		}
	}
	return true
}

// element allows a change of the element of a map under the range key.
func (l *loop) element(m, index ast.Expr) bool {
	if l.key == "" || types.ExprString(index) != l.key || !isMap(l.TypesInfo.TypeOf(m)) {
		return false
	}
	of := types.ExprString(m)
	l.writes[of] = mentions(l.stmt.Body, of+"["+l.key+"]") + mentions(l.stmt.Body, "delete("+of+", "+l.key+")")
	return true
}

// local reports whether an expression is a variable of the body, or a field of one.
func (l *loop) local(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		o := l.TypesInfo.ObjectOf(x)
		return o == nil || l.stmt.Pos() <= o.Pos() && o.Pos() < l.stmt.End()
	case *ast.SelectorExpr:
		_, value := l.TypesInfo.TypeOf(x.X).Underlying().(*types.Struct)
		return value && l.local(x.X)
	}
	return false
}

// returns allows one and the same constant.
func (l *loop) returns(s *ast.ReturnStmt) bool {
	text := "return"
	for _, r := range s.Results {
		if v := l.TypesInfo.Types[r]; v.Value == nil && !v.IsNil() {
			return false
		}
		text += " " + types.ExprString(r)
	}
	same := l.result == "" || l.result == text
	l.result = text
	return same
}

// call allows the deletion of an element and a method of a local variable.
func (l *loop) call(s *ast.ExprStmt) bool {
	call, ok := s.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	if l.builtin(call) == "delete" {
		return l.element(call.Args[0], call.Args[1])
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !l.local(method.X) {
		return false
	}
	switch l.TypesInfo.TypeOf(method.X).Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return false
	}
	return true
}
