package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

const wayOut = "range over slices.Sorted(maps.Keys(m)), or give the reason why the order cannot matter on the line " +
	"above: //detcheck:ordered <reason>"

// rangeStmt flags a range over a map that no directive excuses.
func (c *checker) rangeStmt(cur inspector.Cursor, n *ast.RangeStmt) {
	if isMap(c.TypesInfo.TypeOf(n.X)) && !c.excused(starts(cur)...) {
		c.Reportf(n.Pos(), "range over the map %s: its order differs from run to run; %s", types.ExprString(n.X), wayOut)
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

// mapOrder flags the name of a function that visits a map in the map's order, unless its result is the argument of
// slices.Sorted, or no turn can have an effect on another.
func (c *checker) mapOrder(cur inspector.Cursor, id *ast.Ident) {
	f, ok := c.TypesInfo.Uses[id].(*types.Func)
	if !ok || !inMapOrder(f) || c.harmless(cur, f) || c.excused(starts(cur)...) {
		return
	}
	c.Reportf(id.Pos(), "%s.%s goes by the order of a map; %s", f.Pkg().Name(), f.Name(), wayOut)
}

func inMapOrder(f *types.Func) bool {
	if from(f, "maps", "Keys", "Values", "All", "DeleteFunc") || from(f, "reflect", "MapKeys") {
		return true
	}
	return f.Pkg() != nil && strings.HasSuffix(f.Pkg().Path(), "/util/sets") &&
		(f.Name() == "UnsortedList" || f.Name() == "PopAny")
}

// harmless reports whether the function that cur names is called as slices.Sorted(f(m)), or is maps.DeleteFunc with
// a literal that does nothing but return a value.
func (c *checker) harmless(cur inspector.Cursor, f *types.Func) bool {
	sel := cur.Parent()
	call, ok := sel.Parent().Node().(*ast.CallExpr)
	if !ok || call.Fun != sel.Node() {
		return false
	}
	if f.Name() == "DeleteFunc" {
		del, ok := call.Args[len(call.Args)-1].(*ast.FuncLit)
		return ok && len(del.Body.List) == 1 && is[*ast.ReturnStmt](del.Body.List[0])
	}
	outer, ok := sel.Parent().Parent().Node().(*ast.CallExpr)
	return ok && from(typeutil.StaticCallee(c.TypesInfo, outer), "slices", "Sorted")
}

func is[T ast.Node](n ast.Node) bool {
	_, ok := n.(T)
	return ok
}

// starts returns where a node begins, and the innermost statement around it with its label.
func starts(cur inspector.Cursor) []token.Pos {
	at := []token.Pos{cur.Node().Pos()}
	for s := range cur.Enclosing() {
		if n, ok := s.Node().(ast.Stmt); ok {
			at = append(at, n.Pos())
			if label, ok := s.Parent().Node().(*ast.LabeledStmt); ok {
				at = append(at, label.Pos())
			}
			break
		}
	}
	return at
}
