package conform_test

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/lab/conform"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// library reads every scenario of the module.
func library(t *testing.T) []*scenarios.File {
	t.Helper()
	files, err := conform.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Every clause has a law with a mutant, a scenario, a test or a recorded case.
func TestEveryClauseIsCovered(t *testing.T) {
	for _, c := range conform.Coverage(library(t), builtin.Registry()) {
		if lacks := c.Lacks(); lacks != "" {
			t.Errorf("%s: %s", c.ID, lacks)
		}
	}
}

// No controller breaks a clause without an excuse. Each is asked every clause that applies to it, or
// there is a reason. Every item of the proposal's checklist is ticked.
func TestControllersKeepTheClauses(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores the worlds of all controllers, which takes minutes")
	}
	files, g := library(t), builtin.Registry()
	r, err := conform.Examine(t.Context(), files, g, conform.Options{Schedules: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Amiss() {
		t.Error(line)
	}
	for line := range strings.Lines(string(conform.ChecklistPage(r, conform.Coverage(files, g), g, "../.."))) {
		if strings.HasPrefix(line, "| [ ]") {
			t.Error("not ticked: ", line)
		}
	}
}

// Each known bug is found again by the first seed.
func TestKnownBugsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches for every known bug")
	}
	bugs, err := conform.Bugs(library(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bugs {
		if err := b.Measure(t.Context(), builtin.Registry(), 1); err != nil {
			t.Error(err)
		}
		if b.Found == 0 {
			t.Errorf("%s: bug %s is not found", b.File.Name, b.ID)
		}
	}
}
