package cli

import (
	"bytes"
	"os"
	"testing"

	"github.com/threelaws/threelaws/internal/conform"
	"github.com/threelaws/threelaws/scenarios"
)

// worlds reads every scenario of this module.
func worlds(t *testing.T) []*scenarios.File {
	t.Helper()
	paths, err := walk("../scenarios/testdata")
	if err != nil {
		t.Fatal(err)
	}
	var files []*scenarios.File
	for _, path := range paths {
		f, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// asMade holds a page of docs to what it is made of.
func asMade(t *testing.T, path string, is []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, is, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	told, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(told, is) {
		t.Errorf("%s is not what the tables say; make update writes it anew", path)
	}
}

// pageSchedules is how many schedules of each world the pages rest on. "threelaws
// conformance" draws more.
const pageSchedules = 3

// The pages that are made of what the controllers do: the clauses, and the proposal's
// checklist. No controller breaks what it should not.
func TestPages(t *testing.T) {
	files, g := worlds(t), Builtin()
	r, err := conform.Examine(t.Context(), files, g, conform.Options{Schedules: pageSchedules})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Sheets {
		for _, row := range s.Rows {
			if row.State == conform.Breaking {
				t.Errorf("%s breaks %s: %+v", s.String(), row.ID, row.Breach)
			}
		}
	}
	cover := conform.Coverage(files, g)
	asMade(t, "../docs/clauses.md", conform.ClausesPage(cover, r))
	asMade(t, "../docs/checklist.md", conform.ChecklistPage(r, cover, g, ".."))
}

// uncovered are the clauses for which there is nothing, and why.
var uncovered = map[string]string{
	"JOBSEL-7": "the server serves batch/v1 alone, which has no autoSelector",
}

// Every clause has something that holds it: a law with a mutant, a scenario, a test
// or a recorded case. What is about one controller waits for that controller.
func TestEveryClauseIsCovered(t *testing.T) {
	for _, c := range conform.Coverage(worlds(t), Builtin()) {
		lacks, excuse := c.Lacks(), uncovered[c.ID]
		switch {
		case lacks != "" && c.Waits != "":
		case lacks != "" && excuse == "":
			t.Errorf("%s: %s", c.ID, lacks)
		case lacks == "" && excuse != "":
			t.Errorf("%s is covered; take it off the list", c.ID)
		}
	}
}

// Of each bug of the collection there is a file that finds it, or a reason why there is
// none.
func TestNoKnownBugIsMissing(t *testing.T) {
	bugs, err := conform.Bugs(worlds(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range conform.Unaccounted(bugs) {
		t.Error(what)
	}
}

// The track record has each bug that a file says it has, with the law it breaks and how
// short the way to it is. How long finding it takes is measured by make track.
func TestTrackRecord(t *testing.T) {
	bugs, err := conform.Bugs(worlds(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if err := b.Shorten(t.Context(), Builtin()); err != nil {
			t.Error(err)
		}
	}
	told, err := os.ReadFile("../docs/track-record.md")
	if err != nil {
		t.Fatal(err)
	}
	is, missing := conform.TrackPage(bugs, 0, string(told))
	if missing != "" {
		t.Fatalf("docs/track-record.md does not say so of %s; make track writes it anew", missing)
	}
	if !bytes.Equal(told, is) {
		t.Error("docs/track-record.md is not what the files say; make track writes it anew")
	}
}
