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

// With -update the page is made of what the tests of all thirdparty have written down.
func TestPage(t *testing.T) {
	if !*update {
		t.Skip("it only writes the page: -update")
	}
	verdicts, err := filepath.Glob("*/testdata/verdict.md")
	if err != nil || len(verdicts) == 0 {
		t.Fatal("nothing is written down: ", err)
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

// The table of released operators holds their rows. With -update it is made of them.
func TestOperatorsTable(t *testing.T) {
	files, err := filepath.Glob("operators/*/row.md")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no rows: ", err)
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
		t.Fatalf("the table of %s is not made of the rows: -update rewrites it", operators)
	}
	if err := os.WriteFile(operators, []byte(before+rows+"\n"+after), 0o666); err != nil {
		t.Fatal(err)
	}
}
