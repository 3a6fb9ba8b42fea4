package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

const wayOut = "range over sorted keys (slices.Sorted(maps.Keys(m))), sort the result, fold commutatively, or give " +
	"the reason why the order cannot matter on the line above: //detcheck:ordered <reason>"

// rangeStmt checks a range over a map or over an iterator of package maps.
func (c *checker) rangeStmt(cur inspector.Cursor, n *ast.RangeStmt) {
	l := &loop{checker: c, stmt: n, params: c.params(cur)}
	switch it := ast.Unparen(n.X).(type) {
	case *ast.CallExpr:
		f := c.callee(it)
		switch {
		case from(f, "maps", "Keys", "Values", "All") && len(it.Args) == 1:
			l.over = types.ExprString(it.Args[0])
			l.keyed = f.Name() != "Values"
		case listsMap(f):
			l.over = types.ExprString(n.X)
		case !isMap(c.TypesInfo.TypeOf(n.X)):
			return
		}
	default:
		if !isMap(c.TypesInfo.TypeOf(n.X)) {
			return
		}
	}
	if l.over == "" {
		l.over, l.keyed = types.ExprString(n.X), true
	}
	l.fn = enclosingBody(cur)
	at := []token.Pos{n.Pos()}
	if lab, ok := cur.Parent().Node().(*ast.LabeledStmt); ok {
		at = append(at, lab.Pos())
		l.label = lab.Label.Name
	}
	if p := l.check(); p != nil && !c.excused(at...) {
		c.Reportf(n.Pos(), "order of the range over %s escapes: %s (line %d); %s", l.over, p.why, c.line(p.pos), wayOut)
	}
}

// isMap reports whether ranging over a value of the type visits a map.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		iface := tp.Underlying().(*types.Interface)
		for i := range iface.NumEmbeddeds() {
			if u, ok := iface.EmbeddedType(i).(*types.Union); ok && u.Len() > 0 && isMap(u.Term(0).Type()) {
				return true
			}
			if isMap(iface.EmbeddedType(i)) {
				return true
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// unordered checks a call whose result comes in map order where it is not
// ranged over.
func (c *checker) unordered(cur inspector.Cursor, call *ast.CallExpr) {
	f := c.callee(call)
	if f == nil {
		return
	}
	what := f.Name()
	switch {
	case from(f, "maps", "Keys", "Values", "All"):
		what = "maps." + what
	case listsMap(f):
	default:
		return
	}
	use := outward(cur)
	if r, ok := use.Parent().Node().(*ast.RangeStmt); ok && r.X == use.Node() {
		return // judged as a range
	}
	if c.orderLost(use) {
		return
	}
	stmt := call.Pos()
	for s := range cur.Enclosing() {
		if n, ok := s.Node().(ast.Stmt); ok {
			stmt = n.Pos()
			break
		}
	}
	if !c.excused(call.Pos(), stmt) {
		c.Reportf(call.Pos(), "%s comes in map order and is not sorted; %s", what, wayOut)
	}
}

// listsMap reports whether a function returns a map's entries as a slice, in
// map order.
func listsMap(f *types.Func) bool {
	if f == nil || f.Pkg() == nil {
		return false
	}
	return f.Name() == "UnsortedList" && strings.HasSuffix(f.Pkg().Path(), "/util/sets") ||
		f.Name() == "MapKeys" && from(f, "reflect")
}

// outward skips the parentheses around an expression.
func outward(cur inspector.Cursor) inspector.Cursor {
	for {
		if _, ok := cur.Parent().Node().(*ast.ParenExpr); !ok {
			return cur
		}
		cur = cur.Parent()
	}
}

// orderLost reports whether the expression is put to a use in which its order
// is lost: sorted, collected into a map, counted.
func (c *checker) orderLost(cur inspector.Cursor) bool {
	switch p := cur.Parent().Node().(type) {
	case *ast.CallExpr:
		f := c.callee(p)
		switch {
		case c.isSort(p), c.builtin(p) == "len", from(f, "maps", "Collect", "Insert"):
			return true
		case f != nil && f.Pkg() != nil && strings.HasSuffix(f.Pkg().Path(), "/util/sets"):
			return true // a set again
		case from(f, "slices", "Collect", "AppendSeq"):
			return c.orderLost(outward(cur.Parent()))
		}
	case *ast.AssignStmt:
		for i, r := range p.Rhs {
			if r == cur.Node() && i < len(p.Lhs) {
				return c.sortedNext(p.Lhs[i], enclosingBody(cur), p.End()) == nil
			}
		}
	case *ast.ValueSpec:
		if len(p.Names) == 1 {
			return c.sortedNext(p.Names[0], enclosingBody(cur), p.End()) == nil
		}
	}
	return false
}

// isSort reports whether a call sorts its first argument.
func (c *checker) isSort(call *ast.CallExpr) bool {
	f := c.callee(call)
	if f == nil {
		return false
	}
	if from(f, "slices") || from(f, "sort") {
		return strings.HasPrefix(f.Name(), "Sort") ||
			from(f, "sort", "Strings", "Ints", "Float64s", "Slice", "SliceStable", "Stable")
	}
	return strings.HasPrefix(strings.ToLower(f.Name()), "sort")
}

// sortedNext returns nil when the next use of x after a position sorts it, and
// what is wrong otherwise. Asking for the length or for nil is no use.
func (c *checker) sortedNext(x ast.Expr, body *ast.BlockStmt, after token.Pos) *problem {
	if body == nil {
		return &problem{x.Pos(), types.ExprString(x) + " is not sorted"}
	}
	text, root := types.ExprString(x), c.root(x)
	var first ast.Node
	sorted := false
	var stack []ast.Node
	ast.Inspect(body, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		e, ok := n.(ast.Expr)
		if !ok || first != nil || e.Pos() < after || types.ExprString(e) != text || c.root(e) != root {
			return true
		}
		if c.onlyAsks(stack) {
			return true
		}
		first, sorted = n, c.inSort(stack)
		return true
	})
	if first == nil {
		return &problem{x.Pos(), text + " is not sorted afterwards"}
	}
	if !sorted {
		return &problem{first.Pos(), text + " is used before it is sorted"}
	}
	return nil
}

// onlyAsks reports whether the innermost expression of the stack is asked only
// for its length or whether it is nil, or is appended to.
func (c *checker) onlyAsks(stack []ast.Node) bool {
	if len(stack) < 2 {
		return false
	}
	x := stack[len(stack)-1].(ast.Expr)
	for i := len(stack) - 2; i >= 0; i-- {
		if s, ok := stack[i].(*ast.AssignStmt); ok && len(s.Lhs) == 1 {
			a := c.appended(s.Lhs[0], s.Rhs[0])
			return a != nil && (s.Lhs[0] == x || a.Args[0] == x)
		}
		if _, ok := stack[i].(ast.Stmt); ok {
			break
		}
	}
	switch p := stack[len(stack)-2].(type) {
	case *ast.CallExpr:
		b := c.builtin(p)
		return b == "len" || b == "cap"
	case *ast.BinaryExpr:
		return c.TypesInfo.Types[p.X].IsNil() || c.TypesInfo.Types[p.Y].IsNil()
	}
	return false
}

// appended returns the call in "x = append(x, ...)", nil for anything else.
func (c *checker) appended(lhs, rhs ast.Expr) *ast.CallExpr {
	call, ok := ast.Unparen(rhs).(*ast.CallExpr)
	if !ok || c.builtin(call) != "append" || len(call.Args) == 0 ||
		types.ExprString(call.Args[0]) != types.ExprString(lhs) {
		return nil
	}
	return call
}

// inSort reports whether the innermost expression of the stack is part of the
// first argument of a sort.
func (c *checker) inSort(stack []ast.Node) bool {
	at := stack[len(stack)-1].Pos()
	for i := len(stack) - 2; i >= 0; i-- {
		if call, ok := stack[i].(*ast.CallExpr); ok && c.isSort(call) && len(call.Args) > 0 {
			return call.Args[0].Pos() <= at && at < call.Args[0].End()
		}
		if _, ok := stack[i].(ast.Stmt); ok {
			return false
		}
	}
	return false
}

// enclosingBody is the body of the innermost function around a node.
func enclosingBody(cur inspector.Cursor) *ast.BlockStmt {
	for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		if d, ok := f.Node().(*ast.FuncDecl); ok {
			return d.Body
		}
		return f.Node().(*ast.FuncLit).Body
	}
	return nil
}

// params are the parameters of all functions around a node.
func (c *checker) params(cur inspector.Cursor) map[types.Object]bool {
	set := map[types.Object]bool{}
	for f := range cur.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		var t *ast.FuncType
		if d, ok := f.Node().(*ast.FuncDecl); ok {
			t = d.Type
		} else {
			t = f.Node().(*ast.FuncLit).Type
		}
		for _, field := range t.Params.List {
			for _, name := range field.Names {
				set[c.TypesInfo.Defs[name]] = true
			}
		}
	}
	return set
}
