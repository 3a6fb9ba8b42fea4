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
)

// Analyzer flags what could make two runs of one schedule differ.
var Analyzer = &analysis.Analyzer{
	Name:     "detcheck",
	Doc:      "forbid clocks, randomness, goroutines, select and map order in the deterministic core",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// checker is the state of one pass over one package.
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
