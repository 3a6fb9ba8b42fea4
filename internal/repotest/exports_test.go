package repotest

import (
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Every exported name is used by another package, an example or a page. Others should be unexported or internal.
func TestExportsHaveUsers(t *testing.T) {
	pkgs := tree(t)
	used := usersOf(t, pkgs)
	told := documentation(t)
	n := 0
	for _, p := range pkgs {
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
	if n == 0 {
		t.Error("public packages export nothing")
	}
}

// usersOf returns the names, as "import/path.Name", that other packages or examples use.
func usersOf(t *testing.T, pkgs []*packages.Package) map[string]bool {
	used := map[string]bool{}
	names := map[string]string{}
	for _, p := range pkgs {
		names[p.PkgPath] = p.Name
		for _, o := range p.TypesInfo.Uses {
			if o.Pkg() != nil && o.Pkg() != p.Types && o.Parent() == o.Pkg().Scope() {
				used[key(o)] = true
			}
		}
	}
	for _, f := range testFiles(t) {
		if !slices.ContainsFunc(f.Decls, isExample) {
			continue
		}
		paths := map[string]string{}
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if i.Name != nil {
				paths[i.Name.Name] = path
			} else if name, ok := names[path]; ok {
				paths[name] = path
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					used[paths[x.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
	return used
}

// isExample reports whether a declaration is an example.
func isExample(d ast.Decl) bool {
	fn, ok := d.(*ast.FuncDecl)
	return ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Example")
}

// comeAlong adds names that belong to used names: types in signatures and fields, and constants of enumerations.
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

func key(o types.Object) string {
	if o.Pkg() == nil {
		return o.Name()
	}
	return o.Pkg().Path() + "." + o.Name()
}

// shown returns the types in a name's signature, in its exported fields, and in its exported methods.
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

func packageComment(p *packages.Package) string {
	var all strings.Builder
	for _, f := range p.Syntax {
		all.WriteString(f.Doc.Text())
	}
	return all.String()
}

// Every variable of a package is used. The compiler does not detect a row that is in no table.
func TestEveryVariableIsUsed(t *testing.T) {
	for _, p := range tree(t) {
		used := map[types.Object]bool{}
		for _, o := range p.TypesInfo.Uses {
			used[o] = true
		}
		for _, name := range p.Types.Scope().Names() {
			if v, ok := p.Types.Scope().Lookup(name).(*types.Var); ok && !v.Exported() && !used[v] {
				t.Errorf("%s: nothing uses %s; is its line in a table missing?", p.Fset.Position(v.Pos()), name)
			}
		}
	}
}

// mostInKnot is the maximal number of files of a package that may depend on each other in a cycle. Files in a cycle are
// hard to read, because no file can be read first.
const mostInKnot = 12

func TestNoLargeKnots(t *testing.T) {
	for _, p := range tree(t) {
		for _, k := range knots(uses(p)) {
			if len(k) > mostInKnot {
				t.Errorf("%s: %d files use each other in a circle, more than %d; move what the others use "+
					"into a package or a lower file: %s", short(p.PkgPath), len(k), mostInKnot,
					strings.Join(k, " "))
			}
		}
	}
}

// arrows contains, for each file, the files with declarations that it uses.
type arrows map[string][]string

// uses returns the arrows of a package. Uses of fields do not count, because uses of their types do.
func uses(p *packages.Package) arrows {
	out := arrows{}
	for _, f := range p.Syntax {
		from := filepath.Base(p.Fset.Position(f.Package).Filename)
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			o := p.TypesInfo.Uses[id]
			if o == nil || o.Pkg() != p.Types || !declares(o) {
				return true
			}
			to := filepath.Base(p.Fset.Position(o.Pos()).Filename)
			if to != from && !slices.Contains(out[from], to) {
				out[from] = append(out[from], to)
			}
			return true
		})
	}
	return out
}

// declares reports whether an object is declared at package level, or is a method.
func declares(o types.Object) bool {
	if _, isFunc := o.(*types.Func); isFunc {
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

// knots returns the sets of files that depend on each other, directly or indirectly, the largest set first.
func knots(a arrows) (out [][]string) {
	reach := map[string]map[string]bool{}
	var follow func(from, at string)
	follow = func(from, at string) {
		for _, to := range a[at] {
			if !reach[from][to] {
				reach[from][to] = true
				follow(from, to)
			}
		}
	}
	for from := range a {
		reach[from] = map[string]bool{}
		follow(from, from)
	}
	seen := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(a)) {
		var k []string
		for _, other := range slices.Sorted(maps.Keys(reach[file])) {
			if reach[other][file] && !seen[other] {
				k, seen[other] = append(k, other), true
			}
		}
		if len(k) > 1 {
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(x, y []string) int { return len(y) - len(x) })
	return out
}

func short(p string) string {
	if p == module {
		return "."
	}
	return strings.TrimPrefix(p, module+"/")
}
