package house

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// fewerThan is the limit to what public packages export, top-level names only:
// what one can still look through in one sitting.
const fewerThan = 250

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
					"names it", short(p.PkgPath), name)
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

// Every exported declaration of a public package says what it is.
func TestExportsAreDocumented(t *testing.T) {
	for _, p := range shipped(tree(t)) {
		if !public(p) {
			continue
		}
		if len(p.Syntax) > 0 && packageComment(p) == "" { // else there are tests only
			t.Errorf("%s has no package comment", short(p.PkgPath))
		}
		for _, f := range p.Syntax {
			for _, id := range undocumented(f) {
				t.Errorf("%s: %s has no comment", p.Fset.Position(id.Pos()), id.Name)
			}
		}
	}
}

// undocumented are the exported names of a file without a comment of their own or
// of their group.
func undocumented(f *ast.File) (out []*ast.Ident) {
	note := func(id *ast.Ident, comments ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c.Text() != "" }) {
			out = append(out, id)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				note(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					note(s.Name, s.Doc, s.Comment, d.Doc)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						note(id, s.Doc, s.Comment, d.Doc)
					}
				}
			}
		}
	}
	return out
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// link is a link in a comment, to a name of the package or of an imported one.
var link = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.[A-Z]\w*){0,2})\](?:[^\w(:\[]|$)`)

// Every link in a comment leads somewhere.
func TestCommentsLinkToWhatIsThere(t *testing.T) {
	for _, p := range shipped(tree(t)) {
		for _, f := range p.Syntax {
			for _, c := range f.Comments {
				for _, m := range link.FindAllStringSubmatch(c.Text(), -1) {
					if !leads(p, f, m[1]) {
						t.Errorf("%s: [%s] leads nowhere", p.Fset.Position(c.Pos()), m[1])
					}
				}
			}
		}
	}
}

// leads reports whether a link's name can be found from a file, or is none: a
// word in brackets that begins small is a word in brackets.
func leads(p *packages.Package, f *ast.File, name string) bool {
	first, rest, dotted := strings.Cut(name, ".")
	if !ast.IsExported(first) {
		if !dotted {
			return true
		}
		imported := importedAs(p, f, first)
		return imported == nil || declaresName(imported, rest)
	}
	return declaresName(p.Types, name)
}

// importedAs is the package that a file calls by a name, nil where it has none: the
// word may stand for a package that the file does not import.
func importedAs(p *packages.Package, f *ast.File, name string) *types.Package {
	for _, i := range f.Imports {
		to := p.Imports[strings.Trim(i.Path.Value, `"`)]
		if to != nil && to.Types != nil &&
			(i.Name == nil && to.Types.Name() == name || i.Name != nil && i.Name.Name == name) {
			return to.Types
		}
	}
	return nil
}

// declaresName reports whether a package has Name, or Type.Member.
func declaresName(p *types.Package, name string) bool {
	typ, member, dotted := strings.Cut(name, ".")
	o := p.Scope().Lookup(typ)
	if o == nil || !dotted {
		return o != nil
	}
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(o.Type()), true, p, member)
	if found == nil {
		found, _, _ = types.LookupFieldOrMethod(o.Type(), true, p, member)
	}
	return found != nil
}

// Every example is run: one without its output is compiled only.
func TestExamplesRun(t *testing.T) {
	n := 0
	for _, p := range tree(t) {
		for _, f := range p.Syntax {
			if !strings.HasSuffix(p.Fset.Position(f.Package).Filename, "_test.go") {
				continue
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Example") {
					continue
				}
				n++
				if !slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
					return c.Pos() > fn.Pos() && c.End() < fn.End() &&
						strings.Contains(strings.ToLower(c.Text()), "output:")
				}) {
					t.Errorf("%s: %s has no output, so nothing runs it", p.Fset.Position(fn.Pos()), fn.Name.Name)
				}
			}
		}
	}
	if n < 6 {
		t.Errorf("%d examples, want at least 6", n)
	}
}
