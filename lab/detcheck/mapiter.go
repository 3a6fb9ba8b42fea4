package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
)

const wayOut = "range over sorted keys (slices.Sorted(maps.Keys(m))), sort the result in the next statement, or give " +
	"the reason why the order cannot matter on the line above: //detcheck:ordered <reason>"

// rangeStmt checks a range over a map, an iterator of package maps, or a list in map order.
func (c *checker) rangeStmt(cur inspector.Cursor, n *ast.RangeStmt) {
	if call, ok := ast.Unparen(n.X).(*ast.CallExpr); !isMap(c.TypesInfo.TypeOf(n.X)) && !(ok && c.inMapOrder(call)) {
		return
	}
	at := []token.Pos{n.Pos()}
	if label, ok := cur.Parent().Node().(*ast.LabeledStmt); ok {
		at = append(at, label.Pos())
	}
	l := &loop{checker: c, cur: cur, stmt: n, writes: map[string]int{}}
	if n.Key != nil && isMap(c.TypesInfo.TypeOf(n.X)) {
		l.key = strings.Trim(types.ExprString(n.Key), "_")
	}
	if bad := l.check(); bad != nil && !c.excused(at...) {
		c.Reportf(n.Pos(), "the order of the range over %s can matter in line %d; %s",
			types.ExprString(n.X), c.line(bad.Pos()), wayOut)
	}
}

// isMap reports whether ranging over a value of the type visits a map.
func isMap(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		iface := p.Underlying().(*types.Interface)
		for e := range iface.EmbeddedTypes() {
			if u, ok := e.(*types.Union); ok {
				e = u.Term(0).Type()
			}
			if isMap(e) {
				return true
			}
		}
		return false
	}
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// inMapOrder reports whether a call returns the entries of a map in the map's order.
func (c *checker) inMapOrder(call *ast.CallExpr) bool {
	f := c.callee(call)
	return from(f, "maps", "Keys", "Values", "All") || from(f, "reflect", "MapKeys") ||
		f != nil && f.Pkg() != nil && f.Name() == "UnsortedList" && strings.HasSuffix(f.Pkg().Path(), "/util/sets")
}

// unordered checks a call that returns entries in map order and is not ranged over: it must be
// an argument of a sort, or be assigned to a variable that the next statement sorts.
func (c *checker) unordered(cur inspector.Cursor, call *ast.CallExpr) {
	if !c.inMapOrder(call) {
		return
	}
	use := cur
	for {
		outer, ok := use.Parent().Node().(*ast.CallExpr)
		if ok && c.isSort(outer) {
			return
		}
		if !ok || !from(c.callee(outer), "slices", "Collect") {
			break
		}
		use = use.Parent()
	}
	switch p := use.Parent().Node().(type) {
	case *ast.RangeStmt:
		if use == cur {
			return // checked as a range
		}
	case *ast.AssignStmt:
		if len(p.Lhs) == 1 && c.sortedNext(use.Parent(), types.ExprString(p.Lhs[0])) {
			return
		}
	}
	stmt := call.Pos()
	for s := range cur.Enclosing() {
		if n, ok := s.Node().(ast.Stmt); ok {
			stmt = n.Pos()
			break
		}
	}
	if !c.excused(call.Pos(), stmt) {
		c.Reportf(call.Pos(), "%s comes in map order and is not sorted; %s", types.ExprString(call.Fun), wayOut)
	}
}

// isSort reports whether a call sorts its first argument.
func (c *checker) isSort(call *ast.CallExpr) bool {
	f := c.callee(call)
	return f != nil && len(call.Args) > 0 && (strings.HasPrefix(strings.ToLower(f.Name()), "sort") ||
		from(f, "sort", "Strings", "Slice", "SliceStable", "Stable"))
}

// sortedNext reports whether the next statement in the block that uses a slice sorts it. Taking its
// length and appending to it are not counted as uses.
func (c *checker) sortedNext(cur inspector.Cursor, slice string) bool {
	for next, ok := cur.NextSibling(); ok; next, ok = next.NextSibling() {
		if s, ok := next.Node().(*ast.ExprStmt); ok {
			if call, ok := s.X.(*ast.CallExpr); ok && c.isSort(call) && mentions(call.Args[0], slice) > 0 {
				return true
			}
		}
		allowed := 0
		ast.Inspect(next.Node(), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if c.builtin(n) == "len" && types.ExprString(n.Args[0]) == slice {
					allowed++
				}
			case *ast.AssignStmt:
				if c.appends(n) == slice {
					allowed += 2
				}
			}
			return true
		})
		if mentions(next.Node(), slice) > allowed {
			return false
		}
	}
	return false
}

// appends returns x of the statement x = append(x, ...), "" for any other.
func (c *checker) appends(s *ast.AssignStmt) string {
	call, ok := s.Rhs[0].(*ast.CallExpr)
	if x := types.ExprString(s.Lhs[0]); ok && c.builtin(call) == "append" && types.ExprString(call.Args[0]) == x {
		return x
	}
	return ""
}

// mentions counts the places below a node that hold an expression.
func mentions(n ast.Node, expr string) (count int) {
	ast.Inspect(n, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && types.ExprString(e) == expr {
			count++
		}
		return true
	})
	return count
}
