// Package detcheck is an analyser that finds nondeterministic code: clocks, randomness, the environment, goroutines,
// select, and ranges over maps.
//
// It flags a range over a map, and functions that visit a map in random order: maps.Keys, maps.Values, maps.All,
// UnsortedList and PopAny of a set, and reflect.Value.MapKeys. These are allowed as an argument of slices.Sorted. It
// also flags maps.DeleteFunc, unless the function in its argument only returns a value.
//
// A directive on the line above the code, or at the end of its first line, excuses the code. It must give a reason:
//
//	//detcheck:ordered the sum is the same in every order
//
// A directive without a reason and a directive that excuses nothing are errors. Test files are not checked.
package detcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

var Analyzer = &analysis.Analyzer{
	Name:     "detcheck",
	Doc:      "forbid clocks, randomness, goroutines, select and map order in the deterministic core",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

type checker struct {
	*analysis.Pass
	directives map[lineOf]*directive
}

func run(pass *analysis.Pass) (any, error) {
	c := &checker{Pass: pass, directives: map[lineOf]*directive{}}
	for _, f := range pass.Files {
		if !c.isTest(f) {
			c.readDirectives(f)
		}
	}
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	for file := range root.Children() {
		if !c.isTest(file.Node().(*ast.File)) {
			c.file(file)
		}
	}
	c.reportUnused()
	return nil, nil
}

func (c *checker) isTest(f *ast.File) bool {
	// A package path that ends in .test is the main package that go test makes.
	return strings.HasSuffix(c.Pkg.Path(), ".test") ||
		strings.HasSuffix(c.Fset.Position(f.FileStart).Filename, "_test.go")
}

func (c *checker) file(file inspector.Cursor) {
	for cur := range file.Preorder((*ast.ImportSpec)(nil), (*ast.Ident)(nil), (*ast.GoStmt)(nil),
		(*ast.SelectStmt)(nil), (*ast.RangeStmt)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.ImportSpec:
			c.importSpec(n)
		case *ast.Ident:
			c.use(n)
			c.mapOrder(cur, n)
		case *ast.GoStmt:
			c.Reportf(n.Pos(),
				"go statement: when the goroutine runs is not the schedule's choice; make it an actor whose actions "+
					"the world takes, or a coroutine (iter.Pull)")
		case *ast.SelectStmt:
			c.Reportf(n.Pos(),
				"select: which ready case runs is random; offer the cases as actions and let the schedule pick")
		case *ast.RangeStmt:
			c.rangeStmt(cur, n)
		}
	}
}

// from reports whether f is declared in the package with that path and has one of the names.
func from(f *types.Func, path string, names ...string) bool {
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == path && slices.Contains(names, f.Name())
}

func (c *checker) line(pos token.Pos) int { return c.Fset.Position(pos).Line }

const prefix = "//detcheck:"

// directive is one //detcheck:ordered comment.
type directive struct {
	pos      token.Pos
	trailing bool // it follows code, and applies to its own line
	used     bool
}

type lineOf struct {
	file string
	line int
}

func (c *checker) readDirectives(f *ast.File) {
	code := map[int]bool{} // lines on which something other than a comment begins
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.CommentGroup, *ast.Comment:
			return false
		}
		code[c.line(n.Pos())] = true
		return true
	})
	for _, group := range f.Comments {
		for _, com := range group.List {
			text, ok := strings.CutPrefix(com.Text, prefix)
			if !ok {
				continue
			}
			text, _, _ = strings.Cut(text, "//")
			verb, reason, _ := strings.Cut(text, " ")
			p := c.Fset.Position(com.Pos())
			d := &directive{pos: com.Pos(), trailing: code[p.Line]}
			switch {
			case verb != "ordered":
				c.Reportf(com.Pos(), "unknown directive detcheck:%s; the only one is //detcheck:ordered <reason>", verb)
			case strings.TrimSpace(reason) == "":
				c.Reportf(com.Pos(),
					"directive without a reason; say why the order cannot matter: //detcheck:ordered <reason>")
				d.used = true // no second report that it excuses nothing
				c.directives[lineOf{p.Filename, p.Line}] = d
			default:
				c.directives[lineOf{p.Filename, p.Line}] = d
			}
		}
	}
}

// excused reports whether a directive excuses code at one of the positions. The directive must be on the line above a
// position, or at the end of its line. excused marks the directive as used.
func (c *checker) excused(at ...token.Pos) bool {
	for _, pos := range at {
		p := c.Fset.Position(pos)
		for _, above := range []int{0, 1} {
			if d := c.directives[lineOf{p.Filename, p.Line - above}]; d != nil && d.trailing == (above == 0) {
				d.used = true
				return true
			}
		}
	}
	return false
}

func (c *checker) reportUnused() {
	for _, d := range c.directives {
		if !d.used {
			c.Reportf(d.pos,
				"directive excuses nothing: no map is visited here; remove it")
		}
	}
}

const wayOut = "range over slices.Sorted(maps.Keys(m)), or give the reason why the order cannot matter on the line " +
	"above: //detcheck:ordered <reason>"

func (c *checker) rangeStmt(cur inspector.Cursor, n *ast.RangeStmt) {
	if isMap(c.TypesInfo.TypeOf(n.X)) && !c.excused(starts(cur)...) {
		c.Reportf(n.Pos(), "range over the map %s: its order differs from run to run; %s", types.ExprString(n.X), wayOut)
	}
}

// isMap reports whether a type is a map, or a type parameter that may be a map.
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

// mapOrder flags a function that visits a map in random order, unless the order is harmless or a directive excuses it.
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

// harmless reports whether the call of f at cur is an argument of slices.Sorted, or a call of maps.DeleteFunc with a
// function literal that only returns a value.
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

// starts returns the positions at which a directive may excuse a node: the beginning of the node, of the innermost
// statement around it, and of that statement's label.
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
