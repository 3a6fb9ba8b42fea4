package clause

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheListIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if seen[c.ID] {
			t.Errorf("%s occurs twice", c.ID)
		}
		seen[c.ID] = true
		if c.Category == 0 || c.Source == "" {
			t.Errorf("%s lacks a kind or a source", c.ID)
		}
		if (c.About == Named) != (len(c.Only) > 0) {
			t.Errorf("%s: About is Named without Only, or the reverse", c.ID)
		}
	}
	if len(seen) < 90 {
		t.Errorf("%d clauses", len(seen))
	}
}

// The tests and the recorded cases that a clause names exist.
func TestTestsAndCasesAreThere(t *testing.T) {
	for _, c := range All() {
		for _, name := range c.Tests {
			dir, test, _ := strings.Cut(name, ".")
			files, _ := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
			if !slices.ContainsFunc(files, func(f string) bool {
				text, err := os.ReadFile(f)
				return err == nil && strings.Contains(string(text), "\nfunc "+test+"(")
			}) {
				t.Errorf("%s: there is no test %s", c.ID, name)
			}
		}
		for _, begin := range c.Cases {
			if files, _ := filepath.Glob("../../fakeapi/testdata/vectors/" + begin + "*"); len(files) == 0 {
				t.Errorf("%s: there is no recorded case %s*", c.ID, begin)
			}
		}
	}
}

func TestIn(t *testing.T) {
	for text, want := range map[string][]string{
		"LAW-2, and LAW-2 again":      {"LAW-2"},
		"ADOPT-4b (WATCH-1..3)":       {"ADOPT-4b", "WATCH-1", "WATCH-2", "WATCH-3"},
		"KIND-STS-1 and KIND-DS.":     {"KIND-STS-1", "KIND-DS"},
		"the CHECKLIST, 404 NotFound": {"CHECKLIST"},
		"a UID, PATCH":                nil,
	} {
		if got := In(text); !slices.Equal(got, want) {
			t.Errorf("%q names %v, not %v", text, got, want)
		}
	}
}
