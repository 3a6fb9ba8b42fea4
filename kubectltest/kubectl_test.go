package kubectltest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
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

// kubectl edit and kubectl diff start programs. The test binary serves as both programs, so the machine needs no editor
// and no diff.
const (
	toolVariable  = "KUBECTLTEST_TOOL"
	editVariable  = "KUBECTLTEST_EDIT" // alternating texts and replacements
	editSeparator = "\x1f"
)

func TestMain(m *testing.M) {
	if os.Getenv(toolVariable) != "" {
		os.Exit(tool(os.Args[1:]))
	}
	quiet()
	// The first use of signals starts a goroutine, which must not be inside a synctest bubble.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	os.Exit(m.Run())
}

func useTools(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(toolVariable, "yes")
	t.Setenv(editVariable, "")
	t.Setenv("KUBE_EDITOR", self)
	t.Setenv("KUBECTL_EXTERNAL_DIFF", self)
}

// tool acts as an editor if it gets one file, and as diff if it gets two. It returns the exit code.
func tool(args []string) int {
	var err error
	code := 0
	switch len(args) {
	case 1:
		err = edit(args[0])
	case 2:
		code, err = diffTrees(os.Stdout, args[0], args[1])
	default:
		err = fmt.Errorf("%d arguments, want 1 or 2", len(args))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return code
}

func edit(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	words := strings.Split(os.Getenv(editVariable), editSeparator)
	for i := 0; i+1 < len(words); i += 2 {
		if !bytes.Contains(data, []byte(words[i])) {
			return fmt.Errorf("%q is not in the text:\n%s", words[i], data)
		}
		data = bytes.ReplaceAll(data, []byte(words[i]), []byte(words[i+1]))
	}
	return os.WriteFile(path, data, 0o644)
}

// diffTrees prints the differences of two directories, and returns 1 if there are any.
func diffTrees(w *os.File, a, b string) (int, error) {
	var names []string
	for _, dir := range []string{a, b} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return 2, err
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	code := 0
	for _, name := range slices.Compact(names) {
		x, _ := os.ReadFile(filepath.Join(a, name)) // a missing file counts as empty
		y, _ := os.ReadFile(filepath.Join(b, name))
		if text := unified(filepath.Base(a)+"/"+name, filepath.Base(b)+"/"+name, string(x), string(y)); text != "" {
			fmt.Fprint(w, text)
			code = 1
		}
	}
	return code, nil
}
