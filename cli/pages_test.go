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

// page holds a page of docs to what it is made of.
func page(t *testing.T, path string, is []byte) {
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

func TestClausesPage(t *testing.T) {
	page(t, "../docs/clauses.md", conform.ClausesPage(conform.Coverage(worlds(t), Builtin())))
}

// uncovered are the clauses for which there is nothing, and why.
var uncovered = map[string]string{
	"EXACT-3":     "no controller of the table declares an identity",
	"EXACT-5":     "no controller of the table takes up what an earlier life of it left undone",
	"CREATEDBY-3": "there is no report of failed Pods",
	"JOBSEL-7":    "the server serves batch/v1 alone, which has no autoSelector",
	"KCM-1":       "there is no registry of initializers",
	"KCM-2":       "there is no registry of initializers",
	"CHECKLIST":   "it is not printed",
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
