package threelaws_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/controllers/mutants"
)

var (
	links       = regexp.MustCompile(`\]\(([^)#]+)`)
	mutantNames = regexp.MustCompile("`((?:replicaset|expectations|routing|gc|namespace|kubelet)/[a-z-]+)`")
)

// Every relative link in the documentation leads to a file, and every mutant it
// names is there.
func TestDocumentationIsTrue(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			}
		}
		for _, m := range mutantNames.FindAllStringSubmatch(string(text), -1) {
			if _, ok := mutants.Lookup(m[1]); !ok {
				t.Errorf("%s: there is no mutant %s", page, m[1])
			}
		}
	}
}
