package repotest

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

const root = "../.."

const module = "github.com/threelaws/threelaws"

// load type-checks the module's packages, without tests. It does so only once.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedImports
	return packages.Load(&packages.Config{Mode: mode, Dir: root}, "./...")
})

// tree returns the packages that load has type-checked. If a package does not compile, the test ends.
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

var parseTests = sync.OnceValues(func() (out []*ast.File, err error) {
	paths, err := listFiles()
	for _, f := range paths {
		if !strings.HasSuffix(f, "_test.go") || strings.Contains(f, "testdata/") {
			continue
		}
		file, parseErr := parser.ParseFile(token.NewFileSet(), filepath.Join(root, f), nil,
			parser.ParseComments|parser.SkipObjectResolution)
		out, err = append(out, file), errors.Join(err, parseErr)
	}
	return out, err
})

func testFiles(t *testing.T) []*ast.File {
	t.Helper()
	files, err := parseTests()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// public reports whether other modules may import a package.
func public(p *packages.Package) bool {
	return p.Name != "main" && !strings.Contains(p.PkgPath+"/", "/internal/")
}

// files returns the tracked files of the tree in order. Without git, as in an archive, it returns all files that are
// not ignored.
func files(t *testing.T) []string {
	t.Helper()
	out, err := listFiles()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var listFiles = sync.OnceValues(func() (out []string, err error) {
	if listed, err := exec.Command("git", "-C", root, "ls-files", "-z").Output(); err == nil {
		for f := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
			if _, err := os.Lstat(filepath.Join(root, f)); err == nil { // otherwise its deletion is not committed yet
				out = append(out, f)
			}
		}
		return out, nil
	}
	err = fs.WalkDir(os.DirFS(root), ".", func(f string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && (f == ".git" || e.Name() == ".threelaws" || f == "bin") {
			return fs.SkipDir
		}
		if err == nil && !e.IsDir() && !ignored(e.Name()) {
			out = append(out, f)
		}
		return err
	})
	return out, err
})

func ignored(name string) bool {
	return slices.Contains([]string{".test", ".prof", ".trace"}, filepath.Ext(name)) ||
		slices.Contains([]string{"go.work", "go.work.sum", ".DS_Store"}, name)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
