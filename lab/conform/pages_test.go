package conform_test

import (
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

// Every clause has a law with a mutant, a scenario, a test or a recorded case. A clause about one
// controller needs none until that controller exists.
func TestEveryClauseIsCovered(t *testing.T) {
	for _, c := range conform.Coverage(library(t), builtin.Registry()) {
		if lacks := c.Lacks(); lacks != "" && c.Waits == "" {
			t.Errorf("%s: %s", c.ID, lacks)
		}
	}
}

// Each bug of the collection has a file that finds it, or a reason why there is none.
func TestNoKnownBugIsMissing(t *testing.T) {
	bugs, err := conform.Bugs(library(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range conform.Unaccounted(bugs) {
		t.Error(what)
	}
}
