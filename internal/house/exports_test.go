package house

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// fewerThan is the limit to what public packages export, top-level names only:
// what one can still look through in one sitting.
const fewerThan = 300

// Every exported name has a user: another package, an example, or a reader of the
// documentation. What nobody uses is unexported, or its package is internal.
func TestExportsHaveUsers(t *testing.T) {
	pkgs := tree(t)
	used := usersOf(pkgs)
	told := documentation(t)
	n := 0
	for _, p := range shipped(pkgs) {
		if !public(p) {
			continue
		}
		own := packageComment(p)
		comeAlong(p.Types, used)
		for _, name := range p.Types.Scope().Names() {
			if !ast.IsExported(name) {
				continue
			}
			n++
			if !used[p.PkgPath+"."+name] && !strings.Contains(told, p.Name+"."+name) &&
				!strings.Contains(own, "["+name+"]") {
				t.Errorf("%s.%s is exported and has no user: no other package, no example, no page and no doc.go "+
					"names it; unexport it, or show it in an example", short(p.PkgPath), name)
			}
		}
	}
	if n == 0 || n >= fewerThan {
		t.Errorf("public packages export %d names, want fewer than %d", n, fewerThan)
	}
	t.Logf("public packages export %d names", n)
}

// usersOf are the names, "import/path.Name", that the code of another package or an
// example uses.
func usersOf(pkgs []*packages.Package) map[string]bool {
	used := map[string]bool{}
	for _, p := range pkgs {
		for _, f := range p.Syntax {
			test := strings.HasSuffix(p.Fset.Position(f.Package).Filename, "_test.go")
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); test && !(ok && strings.HasPrefix(fn.Name.Name, "Example")) &&
					!isOfExample(d, f) {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					if !ok {
						return true
					}
					if o := p.TypesInfo.Uses[id]; o != nil && o.Pkg() != nil && o.Pkg().Path() != p.PkgPath &&
						o.Parent() == o.Pkg().Scope() {
						used[o.Pkg().Path()+"."+o.Name()] = true
					}
					return true
				})
			}
		}
	}
	return used
}

// comeAlong adds to the used names of a package those that come with them: the types
// in what is exported of them, as who calls a function has its results, and the
// values of a type that is an enumeration.
func comeAlong(p *types.Package, used map[string]bool) {
	for more := true; more; {
		more = false
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if c, ok := o.(*types.Const); ok && o.Exported() && !used[key(o)] {
				if of, ok := c.Type().(*types.Named); ok && used[key(of.Obj())] {
					used[key(o)] = true
				}
			}
			if !used[key(o)] {
				continue
			}
			for _, n := range shown(o) {
				if n.Pkg() == p && !used[key(n)] {
					used[key(n)], more = true, true
				}
			}
		}
	}
}

// key is a name as the tables of users have it.
func key(o types.Object) string {
	if o.Pkg() == nil {
		return o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

// shown are the names of types that stand in what a reader is shown of a name: its
// signature, its exported fields, the signatures of its exported methods.
func shown(o types.Object) (out []types.Object) {
	var walk func(t types.Type)
	walk = func(t types.Type) {
		switch t := t.(type) {
		case *types.Named:
			out = append(out, t.Obj())
			for a := range t.TypeArgs().Types() {
				walk(a)
			}
		case *types.Alias:
			out = append(out, t.Obj())
		case interface{ Elem() types.Type }: // pointer, slice, array, map, channel
			if m, ok := t.(*types.Map); ok {
				walk(m.Key())
			}
			walk(t.Elem())
		case *types.Signature:
			for v := range t.Params().Variables() {
				walk(v.Type())
			}
			for v := range t.Results().Variables() {
				walk(v.Type())
			}
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					walk(f.Type())
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				walk(m.Type())
			}
		}
	}
	walk(o.Type())
	if named, ok := o.Type().(*types.Named); ok && named.Obj() == o {
		walk(named.Underlying())
		for m := range named.Methods() {
			if m.Exported() {
				walk(m.Type())
			}
		}
	}
	return out
}

// isOfExample reports whether a declaration stands in a file of examples, which is
// shown whole beside what it is an example of.
func isOfExample(d ast.Decl, f *ast.File) bool {
	return slices.ContainsFunc(f.Decls, func(e ast.Decl) bool {
		fn, ok := e.(*ast.FuncDecl)
		return ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example")
	})
}

// documentation is the text of all pages.
func documentation(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, f := range files(t) {
		if filepath.Ext(f) == ".md" {
			all.WriteString(read(t, f))
		}
	}
	return all.String()
}

// packageComment is what stands before a package's clause.
func packageComment(p *packages.Package) string {
	var all strings.Builder
	for _, f := range p.Syntax {
		all.WriteString(f.Doc.Text())
	}
	return all.String()
}
