package thirdparty

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/evidence/third-party.md")

const (
	page = "../docs/evidence/third-party.md"
	head = "testdata/head.md"
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
