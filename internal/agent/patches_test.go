package agent_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// patched is the file that lists the patches of the standard library.
var patched = filepath.Join("..", "..", "internal", "overlay", "patches.go")

// For each edit of the standard library, a test in this package fails without the edit. A mutant lacks one edit, or a
// whole file if the file has only one edit.
func TestEveryPatchIsNeeded(t *testing.T) {
	if os.Getenv("PATCHES") == "" {
		t.Skip("the standard library is built once for each edit, which takes hours: make patches runs it")
	}
	text, err := os.ReadFile(patched)
	must(t, err)
	for _, m := range mutants(t, text) {
		t.Run(m.name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "patches.go")
			mutated := string(text[:m.from]) + m.instead + string(text[m.to:])
			must(t, os.WriteFile(at, []byte(mutated), 0o644))
			original, err := filepath.Abs(patched)
			must(t, err)
			overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{original: at}})
			must(t, err)
			must(t, os.WriteFile(at+".json", overlay, 0o644))
			for _, tests := range []string{bareTests, "."} { // the fast tests first
				cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-failfast", "-overlay", at+".json", "-run", tests, ".")
				cmd.Env = append(os.Environ(), "PATCHES=", "SOAK=")
				out, err := cmd.CombinedOutput()
				if strings.Contains(string(out), "does not build") || strings.Contains(string(out), "[build failed]") {
					t.Fatalf("the mutant does not build:\n%s", out)
				}
				if err != nil {
					return
				}
			}
			t.Errorf("%s:%d: no test fails without this edit", patched, m.line)
		})
	}
}

// bareTests matches the tests of programs without libraries.
const bareTests = "TestTwoRuns|TestTwoReplicas|TestOrderOfMaps|TestTurns|TestBadPrograms|TestClosedFiles|TestContent|TestWaits$|TestWebhook|TestOutside"

// mutant replaces a part of patches.go.
type mutant struct {
	name     string
	line     int
	from, to int
	instead  string
}

// mutants lists the edits in patches.go. An edit that only adds an import belongs to the edit that needs the import.
func mutants(t *testing.T, text []byte) (all []mutant) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, patched, text, parser.SkipObjectResolution)
	must(t, err)
	cut := func(name string, n ast.Node) mutant {
		from, to := set.Position(n.Pos()), set.Position(n.End()).Offset
		if text[to] == ',' {
			to++
		}
		return mutant{name: name, line: from.Line, from: from.Offset, to: to}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		v, is := n.(*ast.ValueSpec)
		if !is || v.Names[0].Name != "patches" {
			return true
		}
		for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
			patch := e.(*ast.CompositeLit)
			name, err := strconv.Unquote(patch.Elts[0].(*ast.BasicLit).Value)
			must(t, err)
			var edits []ast.Expr
			for _, edit := range patch.Elts[1].(*ast.CompositeLit).Elts {
				if source := string(text[set.Position(edit.Pos()).Offset:set.Position(edit.End()).Offset]); !strings.HasPrefix(source,
					"imports(") && !strings.Contains(source, `\n\nimport \"internal/hosted\"`) {
					edits = append(edits, edit)
				}
			}
			for i, edit := range edits {
				if len(edits) == 1 {
					all = append(all, cut(name, patch))
				} else {
					all = append(all, cut(fmt.Sprint(name, " ", i+1), edit))
				}
			}
		}
		return false
	})
	if len(all) < 30 {
		t.Fatalf("patches.go has %d edits", len(all))
	}
	for _, m := range []mutant{{name: "0x1d8e4e27c47d124f$1", instead: "m.seed$1"}, {name: "if hostedAddress(typ.Key)", instead: "if false"}} {
		if m.from = strings.Index(string(text), m.name); m.from < 0 {
			t.Fatalf("patches.go has no %s", m.name)
		}
		m.line, m.to = 1+strings.Count(string(text[:m.from]), "\n"), m.from+len(m.name)
		all = append(all, m)
	}
	return all
}
