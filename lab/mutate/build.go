package mutate

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Program is what is mutated: files with all mutations in them.
type Program struct {
	Mutations []*Mutation
	files     map[string][]byte // by absolute name
}

// Load finds the mutations of packages. Root is the directory of the module;
// patterns are as of the go command.
func Load(root string, patterns ...string) (*Program, error) {
	pkgs, err := packages.Load(&packages.Config{Dir: root, Mode: packages.NeedName | packages.NeedFiles |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports |
		packages.NeedExportFile}, patterns...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	p := &Program{files: map[string][]byte{}}
	for _, pkg := range pkgs {
		if len(pkg.Errors) > 0 {
			return nil, fmt.Errorf("%s: %v", pkg.PkgPath, pkg.Errors[0])
		}
		for i, file := range pkg.Syntax {
			if err := p.add(root, pkg, file, pkg.GoFiles[i]); err != nil {
				return nil, err
			}
		}
	}
	p.number()
	return p, nil
}

func (p *Program) add(root string, pkg *packages.Package, file *ast.File, name string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f := &finder{pkg: pkg, file: file, src: src, next: len(p.Mutations) + 1,
		names: &names{pkg: pkg.Types, at: map[string]int{}}}
	f.find()
	if len(f.found) == 0 {
		return nil
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	for _, m := range f.found {
		m.File, m.Package = filepath.ToSlash(rel), filepath.ToSlash(filepath.Dir(rel))
	}
	p.Mutations = append(p.Mutations, f.found...)
	at := file.Name.End()
	p.files[name] = apply(src, pkg.Fset.File(file.Pos()), append(f.edits,
		edit{from: at, to: at, before: f.names.clause(), cut: true}))
	return nil
}

// number tells apart mutations of one function that read the same.
func (p *Program) number() {
	seen := map[string]int{}
	for _, m := range p.Mutations {
		key := m.File + " " + m.Func + " " + m.What
		if seen[key]++; seen[key] > 1 {
			m.What += fmt.Sprintf(" #%d", seen[key])
		}
	}
}

// apply makes the edits, of which those that enclose others come first. No line
// changes its number.
func apply(src []byte, file *token.File, edits []edit) []byte {
	type insert struct {
		at   int
		rank int // what ends comes before what begins, and of those the inner before the outer
		text string
		skip int
	}
	var all []insert
	for i, e := range edits {
		from, to := file.Offset(e.from), file.Offset(e.to)
		if e.cut {
			all = append(all, insert{from, 0, e.before, to - from})
			continue
		}
		all = append(all, insert{from, i + 1, e.before, 0}, insert{to, -i - 1, e.then, 0})
	}
	slices.SortStableFunc(all, func(a, b insert) int {
		if a.at != b.at {
			return a.at - b.at
		}
		return a.rank - b.rank
	})
	var out bytes.Buffer
	last := 0
	for _, in := range all {
		out.Write(src[last:in.at])
		out.WriteString(in.text)
		last = in.at + in.skip
	}
	out.Write(src[last:])
	return out.Bytes()
}
