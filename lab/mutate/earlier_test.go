package mutate

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What a run prints of those that it has killed says so to the next run, also when they have
// come to stand in other lines.
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
	for range 2 { // what the second run prints is as good for a third
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
		t.Error("a file that lists none as killed is no such output")
	}
}
