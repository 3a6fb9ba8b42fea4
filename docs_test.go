package threelaws_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/controllers/mutants"
	"github.com/threelaws/threelaws/sim/host"
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
	all := mutants.All()
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
			if !slices.ContainsFunc(all, func(known host.Mutant) bool { return known.Name == m[1] }) {
				t.Errorf("%s: there is no mutant %s", page, m[1])
			}
		}
	}
}

// What the README shows of Go is what the tests compile and run, byte for byte.
func TestReadmeShowsWhatIsRun(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var run strings.Builder
	for _, path := range []string{"scenarios/simtest/readme_test.go", "cmd/threelaws/main.go", "cli/example_test.go"} {
		code, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run.Write(code)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) < 2 {
		t.Errorf("%d blocks of Go", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(run.String(), b[1]) {
			t.Errorf("README.md shows code that no test runs:\n%s", b[1])
		}
	}
}
