package thirdparty

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/evidence/third-party.md, and the table of operators.md")

const (
	page = "../docs/evidence/third-party.md"
	head = "testdata/head.md"

	operators = "../docs/evidence/operators.md"
	columns   = "| operator | first try | verdict | time to the verdict | left out |\n| --- | --- | --- | --- | --- |\n"
)

// TestPage writes the page if -update is set. It joins the verdicts that the tests of the projects have written.
func TestPage(t *testing.T) {
	if !*update {
		t.Skip("run with -update to write the page")
	}
	verdicts, err := filepath.Glob("*/testdata/verdict.md")
	if err != nil || len(verdicts) == 0 {
		t.Fatal("no verdict is written: ", err)
	}
	var is []byte
	for _, at := range append([]string{head}, verdicts...) {
		text, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		if is != nil {
			is = append(is, '\n')
		}
		is = append(is, text...)
	}
	if err := os.WriteFile(page, is, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestOperatorsTable checks that the table of released operators has their rows. With -update it writes the table.
func TestOperatorsTable(t *testing.T) {
	files, err := filepath.Glob("operators/*/row.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no operator has a row: ", err)
	}
	rows := columns
	for _, at := range files {
		text, err := os.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		rows += string(text)
	}
	text, err := os.ReadFile(operators)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), columns)
	was, after, ends := strings.Cut(rest, "\n\n")
	if !ok || !ends {
		t.Fatalf("%s has no table that begins with:\n%s", operators, columns)
	}
	if columns+was+"\n" == rows {
		return
	}
	if !*update {
		t.Fatalf("the table of %s differs from the rows: run with -update to rewrite it", operators)
	}
	if err := os.WriteFile(operators, []byte(before+rows+"\n"+after), 0o666); err != nil {
		t.Fatal(err)
	}
}
