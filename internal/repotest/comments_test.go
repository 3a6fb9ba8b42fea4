package repotest

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// Every exported declaration of a public package has a doc comment.
func TestExportsAreDocumented(t *testing.T) {
	for _, p := range tree(t) {
		if !public(p) {
			continue
		}
		if len(p.Syntax) > 0 && packageComment(p) == "" { // otherwise the package contains only tests
			t.Errorf("%s has no package comment", short(p.PkgPath))
		}
		for _, f := range p.Syntax {
			for _, id := range undocumented(f) {
				t.Errorf("%s: %s has no comment", p.Fset.Position(id.Pos()), id.Name)
			}
		}
	}
}

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

// link matches a link in a comment, to a name in the package or in an imported package.
var link = regexp.MustCompile(`\[\*?([A-Za-z]\w*(?:\.[A-Z]\w*){0,2})\](?:[^\w(:\[]|$)`)

// Every link in a comment has a target.
func TestCommentsLinkToWhatIsThere(t *testing.T) {
	for _, p := range tree(t) {
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

var answer = regexp.MustCompile(`(?m)\?\s+(\S.*\S)\s{2,}(\S+(?:, \S+)*)$`)

// Every function in the table of questions in package law exists in the file that the table names.
func TestTableOfQuestionsIsTrue(t *testing.T) {
	rows := answer.FindAllStringSubmatch(read(t, "sim/law/doc.go"), -1)
	for _, row := range rows {
		var text strings.Builder
		for _, f := range files(t) {
			name := strings.TrimPrefix(f, "sim/law/")
			if slices.ContainsFunc(strings.Split(row[2], ", "), func(s string) bool { return strings.HasPrefix(name, s) }) {
				text.WriteString(read(t, f))
			}
		}
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(row[1], -1) {
			if found, _ := regexp.MatchString(`\b`+name+`\b`, text.String()); !found && name != "by" {
				t.Errorf("sim/law/doc.go: %s is not in %s", name, row[2])
			}
		}
	}
	if len(rows) < 20 {
		t.Errorf("sim/law/doc.go: %d questions", len(rows))
	}
}

// leads reports whether a link has a target. A lower-case word in brackets is not a link.
func leads(p *packages.Package, f *ast.File, name string) bool {
	first, rest, dotted := strings.Cut(name, ".")
	if !ast.IsExported(first) {
		if !dotted {
			return true
		}
		if first == p.Name {
			return declaresName(p.Types, rest)
		}
		imported := importedAs(p, f, first)
		return imported == nil || declaresName(imported, rest)
	}
	return declaresName(p.Types, name)
}

// importedAs returns the package that a file imports under a name, or nil.
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

// Every example has output. Otherwise it would only be compiled.
func TestExamplesRun(t *testing.T) {
	n := 0
	for _, f := range testFiles(t) {
		for _, d := range f.Decls {
			if !isExample(d) {
				continue
			}
			n++
			if !slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
				return c.Pos() > d.Pos() && c.End() < d.End() && strings.Contains(strings.ToLower(c.Text()), "output:")
			}) {
				t.Errorf("%s: an example of package %s has no output, so nothing runs it",
					d.(*ast.FuncDecl).Name.Name, f.Name.Name)
			}
		}
	}
	if n == 0 {
		t.Error("no test file has an example")
	}
}
