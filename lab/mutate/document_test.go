package mutate

import (
	"os"
	"path/filepath"
	"testing"
)

// The rows of packages that were not tried stay as they are, and count in the sum.
func TestDocument(t *testing.T) {
	name := filepath.Join(t.TempDir(), "mutation.md")
	if err := os.WriteFile(name, []byte("before\n"+tableBegins+tableEnds+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, scores := range [][]Score{
		{{Package: "b", Mutants: 10, Killed: 4, Equivalent: 2, Excused: 1}, {Package: sum, Mutants: 10}},
		{{Package: "a", Mutants: 2, Killed: 2}},
		{{Package: "b", Mutants: 12, Killed: 9, Equivalent: 2, Excused: 1}},
	} {
		if err := Document(name, scores); err != nil {
			t.Fatal(err)
		}
	}
	const want = "before\n" + tableBegins +
		`| package | mutants | killed | equivalent | excused | surviving | killed of those not equivalent |
| --- | --- | --- | --- | --- | --- | --- |
| a | 2 | 2 | 0 | 0 | 0 | 100.0 % |
| b | 12 | 9 | 2 | 1 | 0 | 90.0 % |
| all | 14 | 11 | 2 | 1 | 0 | 91.7 % |
` + tableEnds + "after\n"
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := os.WriteFile(name, []byte("no table\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Document(name, nil); err == nil {
		t.Error("a document without a table is no error")
	}
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		is            bool
	}{
		{"*", "anything", true},
		{"drop x = *y", "drop x = *y", true},
		{"drop * = *", "drop x = y", true},
		{"drop *)", "drop f(x)", true},
		{"drop *)", "drop f(x) #2", false},
		{"*a*a", "a", false},
		{"negate a", "negate b", false},
	} {
		if got := like(c.pattern, c.text); got != c.is {
			t.Errorf("%q like %q: %v", c.text, c.pattern, got)
		}
	}
}

func TestNamesOfTests(t *testing.T) {
	out := "=== RUN   TestA\n=== RUN   TestA/x\n=== RUN   TestA/x/1\n=== RUN   TestA/y\n=== RUN   TestB\n" +
		"--- PASS: TestA\n"
	got := testsOf(out)
	want := []string{"TestA/x/1", "TestA/y", "TestB"}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("got %q, want %q", got, want)
	}
}
