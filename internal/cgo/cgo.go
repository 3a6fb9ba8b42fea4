// Package cgo finds programs that do not compile without cgo. It does not build them.
package cgo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is a package in the output of go list.
type listed struct {
	ImportPath, Dir                  string
	Standard                         bool
	GoFiles, IgnoredGoFiles, Imports []string
	Error                            *struct{ Err string }
}

// Check returns an error if a package of the main package pkg certainly does not compile without cgo. A build finds this
// out only after several minutes. Other errors are left to the build. The module of pkg is in the directory dir.
func Check(ctx context.Context, dir, pkg string) error {
	list := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-race=false",
		"-json=ImportPath,Dir,Standard,GoFiles,IgnoredGoFiles,Imports,Error", pkg)
	list.Dir, list.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	text, _ := list.Output() // with an error, all is empty
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		p := &listed{}
		if d.Decode(p) != nil {
			return nil
		}
		all = append(all, p)
	}
	for _, p := range all {
		if p.Standard {
			continue
		}
		at, why := p.needsCgo(all)
		if why != "" {
			return fmt.Errorf("%s: %s needs cgo, and check builds without cgo: %s; the imports: %s: add a file "+
				"with the build tag !cgo, or replace the module in a copy of go.mod, and set GOFLAGS=-modfile=COPY", pkg, at.ImportPath, why,
				strings.Join(chain(all, at), " -> "))
		}
	}
	return nil
}

// needsCgo returns the package that does not compile without cgo, and why: p, or a package that imports p. If these
// packages may compile, why is "".
func (p *listed) needsCgo(all []*listed) (at *listed, why string) {
	declared := map[string]string{} // name -> file with cgo
	with := build.Default
	with.CgoEnabled = true
	for _, name := range p.IgnoredGoFiles {
		if match, err := with.MatchFile(p.Dir, name); err != nil || !match || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		declared[""] = name
		for _, d := range file.Decls {
			declares(d, func(id *ast.Ident) { declared[id.Name] = name })
		}
	}
	switch {
	case len(declared) == 0:
		return nil, ""
	case len(p.GoFiles) == 0:
		return p, "each of its files needs cgo, such as " + declared[""]
	}
	compiled, why := p.compile(nil, declared)
	if compiled == nil || why != "" {
		return p, why
	}
	for _, q := range all {
		if slices.Contains(q.Imports, p.ImportPath) {
			if _, why := q.compile(compiled, declared); why != "" {
				return q, why
			}
		}
	}
	return nil, ""
}

// compile checks the types of a package without its imports, except one of them, which may be nil. If the package uses
// a declared name that does not exist, why describes the first use. If the names are not certain, compile returns nil.
func (p *listed) compile(imported *types.Package, declared map[string]string) (pkg *types.Package, why string) {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil || slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Name != nil && i.Name.Name == "." }) {
			return nil, "" // the compiler reports the error; the names of a dot import are unknown
		}
		parsed = append(parsed, file)
	}
	check := types.Config{Importer: only{imported}, Error: func(err error) {
		e, is := err.(types.Error)
		use, undefined := strings.CutPrefix(e.Msg, "undefined: ")
		_, name, selected := strings.Cut(use, ".")
		if !selected {
			name = use
		}
		if at := declared[name]; is && undefined && at != "" && selected == (imported != nil) && why == "" {
			place := files.Position(e.Pos)
			why = fmt.Sprintf("%s:%d uses %s of %s, which needs cgo", filepath.Base(place.Filename), place.Line, use, at)
		}
	}}
	pkg, _ = check.Check(p.ImportPath, files, parsed, nil) // errors go to the function above
	pkg.MarkComplete()
	return pkg, why
}

// declares calls a function for each name that a declaration adds to the package.
func declares(d ast.Decl, each func(*ast.Ident)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			each(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				each(spec.Name)
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					each(id)
				}
			}
		}
	}
}

// only imports one package, which may be nil. The type checker reports no errors about the names of other packages.
type only struct{ *types.Package }

func (o only) Import(path string) (*types.Package, error) {
	if o.Package == nil || o.Path() != path {
		return nil, errors.New("not imported")
	}
	return o.Package, nil
}

// chain returns a shortest chain of imports from the program, the last package of all, to a package.
func chain(all []*listed, to *listed) (names []string) {
	by := map[string]*listed{}
	for _, p := range all {
		by[p.ImportPath] = p
	}
	main := all[len(all)-1]
	from := map[*listed]*listed{main: nil}
	for queue := []*listed{main}; len(queue) > 0 && queue[0] != to; queue = queue[1:] {
		for _, name := range queue[0].Imports {
			if next := by[name]; next != nil {
				if _, seen := from[next]; !seen {
					from[next] = queue[0]
					queue = append(queue, next)
				}
			}
		}
	}
	for p := to; p != nil; p = from[p] {
		names = append(names, p.ImportPath)
	}
	slices.Reverse(names)
	return names
}
