// Package examples tests docs/use/tutorial.md: it goes from an empty directory to a verdict, with the command built
// from this tree.
package examples

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Exit codes of threelaws check.
const (
	passed    = 0
	violated  = 1
	uncovered = 5 // and no law is violated
)

func TestExamples(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("operators are compiled with a patched standard library and checked, for minutes: with SOAK in the environment only")
	}
	command := filepath.Join(t.TempDir(), "threelaws")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", command, "./cmd/threelaws").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		name, operator string
		fixed          bool // with the fix of the tutorial
		codes          []int
		says           []string
	}{
		{"memcached", "memcached", false, []int{violated}, []string{"VIOLATES dont-interfere", "in recreated/orphan"}},
		{"memcached fixed", "memcached", true, []int{passed, uncovered}, []string{"no law is violated"}},
		{"cronjob", "cronjob", false, []int{passed, uncovered}, []string{"no law is violated"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("../../examples", test.operator))); err != nil {
				t.Fatal(err)
			}
			if test.fixed {
				fix(t, filepath.Join(dir, "internal/controller/memcached.go"))
			}
			began := time.Now()
			cmd := exec.Command(command, "check", "--time", "2m")
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			took := time.Since(began).Round(time.Second)
			t.Logf("a verdict after %s", took)
			if !slices.Contains(test.codes, code) {
				t.Errorf("exit code %d\n%s", code, out)
			}
			for _, want := range test.says {
				if !strings.Contains(string(out), want) {
					t.Errorf("check does not say %q\n%s", want, out)
				}
			}
		})
	}
}

func fix(t *testing.T, file string) {
	t.Helper()
	tutorial, err := os.ReadFile("../../docs/use/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	_, diff, _ := strings.Cut(string(tutorial), "```diff\n")
	diff, _, _ = strings.Cut(diff, "```")
	var added, before string
	for line := range strings.Lines(diff) {
		if rest, is := strings.CutPrefix(line, "+"); is {
			added += rest
		} else {
			before = line[1:]
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fixed := strings.Replace(string(text), before, added+before, 1)
	fixed = strings.Replace(fixed, "import (\n", "import (\n\t\"fmt\"\n", 1)
	if err := os.WriteFile(file, []byte(fixed), 0o644); err != nil {
		t.Fatal(err)
	}
}
