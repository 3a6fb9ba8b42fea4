package kubectltest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pmezard/go-difflib/difflib"
	"golang.org/x/tools/txtar"
)

const patience = 5 * time.Minute

var update bool

func init() {
	flag.BoolVar(&update, "update", false, "rewrite the output in testdata/*.txtar")
}

func TestKubectl(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no sessions in testdata", err)
	}
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			testSession(t, filepath.Join(home, path))
		})
	}
}

func testSession(t *testing.T, path string) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sc := parseScript(a)
	dir := t.TempDir()
	if err := sc.extract(dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	useTools(t)
	synctest.Test(t, func(t *testing.T) { runScript(t, sc) })
	if update {
		if err := os.WriteFile(path, sc.format(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func runScript(t *testing.T, sc *script) {
	s := newSession(t)
	for i := range sc.steps {
		st := &sc.steps[i]
		began := time.Now()
		got, err := s.do(st.command)
		if took := time.Since(began); took > patience {
			t.Errorf("line %d: %s: took %v, too long", st.line, st.command, took)
		}
		if err != nil {
			t.Fatalf("line %d: %s: %v", st.line, st.command, err)
		}
		text := golden(got)
		switch {
		case !st.printed && text != "(none)\n" && strings.HasPrefix(st.command, "kubectl "):
			st.printed = update
			if !update {
				t.Errorf("line %d: %s: no ---- follows, but the command printed:\n%s", st.line, st.command, text)
			}
		case st.printed && text != st.want && !update:
			t.Errorf("line %d: %s\n%s", st.line, st.command, unified("expected", "printed", st.want, text))
		}
		st.want = text
	}
	for _, r := range s.transport.refused {
		t.Errorf("the server does not implement: %s", r)
	}
	if len(s.jobs) > 0 {
		t.Errorf("%d commands in the background have no await", len(s.jobs))
	}
}

func unified(a, b, x, y string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: difflib.SplitLines(x), B: difflib.SplitLines(y), FromFile: a, ToFile: b, Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return text
}
