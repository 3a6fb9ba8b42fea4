package project

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

var (
	update = flag.Bool("update", false, "explore the worlds in testdata again, and rewrite what was found")
	tell   = flag.Bool("tell", false, "rewrite what is told of it alone")
)

const (
	longest = 80  // maximum number of steps of a finding's timeline; a fight needs only a few rounds
	budget  = 120 // maximum number of executions to minimize one finding
	verdict = "testdata/verdict.md"
)

// Test explores each world of testdata, and compares the result with the expectation in the world's file. For each
// violation it replays the minimized schedule. It compares the findings with testdata/verdict.md, from which
// docs/evidence/third-party.md is generated. With -update or -tell it writes verdict.md.
func Test(t *testing.T, s Project) {
	s.definitions(t)
	all := s.worlds(t)
	for _, w := range all {
		t.Run(w.name, func(t *testing.T) {
			w.explore(t, &s)
			if w.violates() {
				w.replay(t, &s)
			}
		})
	}
	if t.Failed() {
		return
	}
	is := s.verdict(t, all)
	if *update || *tell {
		write(t, verdict, is)
	}
	if was, err := os.ReadFile(verdict); err != nil || string(was) != is {
		t.Errorf("%s is not what was found: -update rewrites it (%v)", verdict, err)
	}
}

// explore explores the world. It must find a violation if and only if the world's file expects one.
func (w *world) explore(t *testing.T, s *Project) {
	step := w.file.Steps[w.until]
	o, err := step.ExploreOptions()
	if err != nil {
		t.Fatal(err)
	}
	o.Budget, o.Workers = budget, 1
	if w.violates() && !*update {
		o.First, o.Budget = true, 1 // hardly minimize, because the minimized file exists already (see shrunk)
	}
	x, err := scenarios.Explore(t.Context(), w.file, w.until, s.registry(), o)
	if err != nil {
		t.Fatalf("%s: %v", w.name, err)
	}
	w.x = x
	violates := len(x.Failures) > 0
	if violates != w.violates() {
		t.Fatalf("%s: violates: %t, want %t\n%s", w.name, violates, w.violates(), x.Text())
	}
	if *update {
		step.Golden = x.Text()
		write(t, w.file.Name, s.without(t, string(w.file.Format())))
		if violates {
			write(t, w.shrunk(), s.without(t, string(x.Failures[0].File)))
		}
	}
	if !violates && x.Text() != step.Golden {
		t.Errorf("%s: -update rewrites it:\n%s", w.name, x.Text())
	}
}

// replay runs the minimized file twice (see shrunk). Each run must violate the expected law.
func (w *world) replay(t *testing.T, s *Project) {
	raw, err := os.ReadFile(w.shrunk())
	if err != nil {
		t.Fatalf("%v: -update writes it", err)
	}
	law, _, _ := strings.Cut(strings.TrimPrefix(string(raw), "# "), " is violated: ")
	f := s.parse(t, w.shrunk(), string(raw))
	r := scenarios.Interpret(f, scenarios.Options{Registry: s.registry(), Twice: true, Update: *update,
		Inspect: func(run *scenarios.Run) {
			for _, found := range run.Failures() {
				if found.Expected() && found.Violation.Law == law && w.small == nil {
					w.small, w.law = run.Page(&found), found.Violation.Law
				}
			}
		}})
	if *update { // the replayed world has more CRDs than the minimized one, so the hash changes
		write(t, w.shrunk(), s.without(t, string(f.Format())))
	}
	switch {
	case r.ExitCode != scenarios.ExitPass:
		t.Errorf("%s, replayed: %s: %v", w.name, r.Verdict, r.Errors)
	case w.small == nil:
		t.Errorf("%s, replayed, does not break %s", w.name, law)
	case w.small.Step() == 0 || w.small.Step() > longest:
		t.Errorf("%s: %d steps: not small", w.name, w.small.Step())
	}
}

func write(t testing.TB, at, text string) {
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
