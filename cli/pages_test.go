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

// commandSchedules is how many it draws.
const commandSchedules = 10

// unasked are the clauses that a controller was not asked, for no reason that is known.
func unasked(s *conform.Sheet) (ids []string) {
	for _, row := range s.Rows {
		if row.State == conform.Unasked && row.Why == "" {
			ids = append(ids, row.ID)
		}
	}
	return ids
}

// The pages that are made of what the controllers do: the clauses, and the proposal's
// checklist. No controller breaks what it should not, and each is asked every clause of its own or
// there is a reason.
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
	for _, s := range r.Sheets {
		if len(unasked(s)) > 0 { // so few schedules need not come to it: those of the command do
			full := conform.Options{Controller: s.Name, Generation: s.Generation, Schedules: commandSchedules}
			again, err := conform.Examine(t.Context(), files, g, full)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range again.Sheets {
				for _, id := range unasked(s) {
					t.Errorf("%s is not asked %s, and nothing says why", s.String(), id)
				}
			}
		}
	}
	cover := conform.Coverage(files, g)
	asMade(t, "../docs/clauses.md", conform.ClausesPage(cover, r))
	asMade(t, "../docs/checklist.md", conform.ChecklistPage(r, cover, g, ".."))
}

// Every clause has something that holds it: a law with a mutant, a scenario, a test
// or a recorded case. What is about one controller waits for that controller.
func TestEveryClauseIsCovered(t *testing.T) {
	for _, c := range conform.Coverage(worlds(t), Builtin()) {
		if lacks := c.Lacks(); lacks != "" && c.Waits == "" {
			t.Errorf("%s: %s", c.ID, lacks)
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
