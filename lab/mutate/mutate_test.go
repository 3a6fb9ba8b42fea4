package mutate

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/toy.txt")

const toy = "mutate/testdata/toy"

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestToy tries every mutant of a small program, and compares their fates with golden text.
func TestToy(t *testing.T) {
	p, err := Load(filepath.Join(root(t), "lab"), "./"+toy)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Overlay(root(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, err := b.Command("./lab/" + toy + "/check")
	if err != nil {
		t.Fatal(err)
	}
	s := &Suite{Root: b.root, Path: path, Processes: 2, Progress: func(string, ...any) {}}
	fates := Fates(p.Mutations)
	if err := s.Run(fates, func(string) bool { return true }, 0); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range fates {
		fate := "survives"
		switch {
		case strings.HasPrefix(f.Why, "does not end"):
			fate = "does not end"
		case f.Killed():
			fate = "killed"
		}
		fmt.Fprintf(&got, "%-13s %d %s: %s\n", fate, f.Line, f.Func, f.What)
	}
	const golden = "testdata/toy.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// Every excuse names an existing function and an existing mutation.
func TestExcusesAreForWhatIsThere(t *testing.T) {
	p, err := Load(root(t), target)
	if err != nil {
		t.Fatal(err)
	}
	for i := range Excuses {
		e := &Excuses[i]
		if !slices.ContainsFunc(p.Mutations, e.covers) {
			t.Errorf("%s: there is no such mutation", e)
		}
		if e.Reason == "" || e.Class != Equivalent && e.Class != Cosmetic && e.Class != Performance {
			t.Errorf("%s: no class, or no reason", e)
		}
	}
	again, err := Load(root(t), target)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range p.Mutations {
		if again.Mutations[i].String() != m.String() || m.ID != i+1 {
			t.Fatalf("number %d is %s, then %s", m.ID, m, again.Mutations[i])
		}
	}
}

func TestForgiveAndReport(t *testing.T) {
	m := func(id int, what string) *Mutation {
		return &Mutation{ID: id, Package: "p", File: "p/f.go", Func: "F", Line: id, What: what}
	}
	fates := []*Fate{
		{Mutation: m(1, "negate a"), Reached: true, By: "x"},
		{Mutation: m(2, "negate b"), Reached: true},
		{Mutation: m(3, "drop c()"), Reached: true},
		{Mutation: m(4, "drop d()")},
	}
	stale := Forgive(fates, []Excuse{
		{"p/f.go", "F", "negate b", Equivalent, "same"},
		{"p/f.go", "F", "negate a", Equivalent, "it is killed"},
		{"p/f.go", "F", "drop c()", Cosmetic, "words"},
		{"q/g.go", "G", "negate a", Cosmetic, "its package was not tried"},
	})
	var out bytes.Buffer
	Survivors(&out, fates, false)
	Report(&out, fates, stale)
	want := `survives: p/f.go:4 F: drop d()  (nothing reaches it)
needs no excuse: p/f.go F: negate a
package                                   mutants   killed    equal  excused  survive    score
p                                               4        1        1        1        1    33.3%
all                                             4        1        1        1        1    33.3%
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// The output of a run lists the killed mutants. The next run finds them in this output, even if their lines have
// changed.
func TestKilledEarlier(t *testing.T) {
	m := func(line int, name, what string) *Mutation {
		return &Mutation{Package: "p", File: "p/f.go", Func: name, Line: line, What: what}
	}
	fates := []*Fate{
		{Mutation: m(1, "T.F", "negate a: b"), Reached: true, By: "x", Why: "other golden text: 3"},
		{Mutation: m(2, "T.F", "negate a: b #2"), Reached: true},
		{Mutation: m(3, "G", "drop c()"), By: "y", Why: ""},
	}
	name := filepath.Join(t.TempDir(), "run.txt")
	print := func() {
		t.Helper()
		var out bytes.Buffer
		Survivors(&out, fates, true)
		if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Again: name}
	for range 2 { // the output of the second run is as complete as that of the first
		print()
		earlier, err := o.killedEarlier()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{"x: other golden text: 3", "", "y"} {
			fates[i].Line += 10
			if fates[i].By, fates[i].Why = earlier[fates[i].place()], ""; fates[i].By != want {
				t.Errorf("%s was killed by %q, want %q", fates[i], fates[i].By, want)
			}
		}
	}
	fates = fates[1:2]
	print()
	if _, err := o.killedEarlier(); err == nil {
		t.Error("no error for a file without killed mutants")
	}
}
