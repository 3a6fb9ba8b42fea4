package house

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// root is the directory of the module.
const root = "../.."

// module is its path.
const module = "github.com/threelaws/threelaws"

// load type-checks the module's packages, tests included, once for all tests.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedImports | packages.NeedForTest
	return packages.Load(&packages.Config{Mode: mode, Dir: root, Tests: true}, "./...")
})

// tree is the module's packages as [load] has them; a package that does not
// compile ends the test.
func tree(t *testing.T) []*packages.Package {
	t.Helper()
	pkgs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Fatal(e)
		}
	}
	return pkgs
}

// shipped leaves out test binaries and packages with their tests compiled in.
func shipped(pkgs []*packages.Package) (out []*packages.Package) {
	for _, p := range pkgs {
		if p.ForTest == "" && !strings.HasSuffix(p.PkgPath, ".test") {
			out = append(out, p)
		}
	}
	return out
}

// public reports whether other modules may import a package that holds more than
// a command.
func public(p *packages.Package) bool {
	return p.Name != "main" && !strings.Contains(p.PkgPath+"/", "/internal/")
}

// files are the paths of the tree's files from its root, in order: what git would
// keep, without asking git, so that a tree that came as an archive is held to it.
func files(t *testing.T) (out []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case e.IsDir() && (rel == ".git" || e.Name() == ".threelaws" || rel == "bin"):
			return filepath.SkipDir
		case !e.IsDir() && rel != ".git" && !ignored(e.Name()): // a worktree's .git is a file
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ignored are the names of files that .gitignore keeps out anywhere.
func ignored(name string) bool {
	switch filepath.Ext(name) {
	case ".test", ".prof", ".trace":
		return true
	}
	return name == "go.work" || name == "go.work.sum" || name == ".DS_Store"
}

// read is the text of a file of the tree.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
