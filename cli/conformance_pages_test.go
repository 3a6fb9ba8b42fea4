package cli

import (
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var links = regexp.MustCompile(`href="([^"]*)"`)

// Every cell of the grid leads to a page that is there, and to a row that is there in it; what is
// broken to the run that breaks it.
func TestConformancePages(t *testing.T) {
	scenario, err := os.ReadFile("../scenarios/testdata/overlap/selector-generation-fights.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fights.txtar"), scenario, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "pages")
	suite := filepath.Join(dir, "junit.xml")
	got := typed(t, "conformance --dir "+dir+" --controller replication --generation selector -n 1 --html "+out+
		" --junit "+suite)
	if got.code == 2 || got.err != "" {
		t.Fatalf("exit %d: %s", got.code, got.err)
	}
	passesWhatIsHeld(t, readSuite(t, suite), got.out)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	index := read("index.html")
	runs, rows := 0, 0
	for _, page := range []string{"index.html", "replication@selector.html"} {
		for _, link := range links.FindAllStringSubmatch(read(page), -1) {
			to, err := url.Parse(html.UnescapeString(link[1]))
			if err != nil {
				t.Error(err)
				continue
			}
			text := read(to.Path)
			switch {
			case to.Fragment == "" && to.Path == "./replication@selector.html":
			case to.Fragment == "":
				if runs++; !strings.Contains(text, `"replay"`) && !strings.Contains(text, `"records":[{`) {
					t.Errorf("%s leads to %s, which shows no run", page, to)
				}
			default:
				if rows++; !strings.Contains(text, `<tr id="`+to.Fragment+`">`) {
					t.Errorf("%s leads to %s, where there is no such row", page, to)
				}
			}
		}
	}
	if runs < 10 || rows < 20 || strings.Count(index, "<tr>") < 30 {
		t.Errorf("%d runs, %d rows and %d clauses are led to", runs, rows, strings.Count(index, "<tr>"))
	}
	for _, want := range []string{`title="Of N racing adopters`, `class="expected"`, `class="kept"`} {
		if !strings.Contains(index, want) {
			t.Errorf("the grid has no %s", want)
		}
	}
	if !strings.Contains(read("replication@selector.html"), "fights.txtar") {
		t.Error("the list does not say what asks for a clause")
	}
	file := filepath.Join(dir, "fights.txtar")
	if got := typed(t, "conformance --explain ADOPT-4 --html "+out); got.code != 2 ||
		!strings.Contains(got.err, "--explain and --html") {
		t.Errorf("--explain with --html: exit code %d, %q", got.code, got.err)
	}
	if got := typed(t, "conformance --html "+file); got.code != 2 || !strings.Contains(got.err, "--html: ") {
		t.Errorf("into a file: exit %d: %s", got.code, got.err)
	}
}

// passesWhatIsHeld holds a JUnit file to the rows that were printed: a test that passed is a clause
// that held.
func passesWhatIsHeld(t *testing.T, s *suiteXML, rows string) {
	t.Helper()
	passed := 0
	for _, c := range s.Cases {
		if c.Failure == nil && c.Error == nil && c.Skipped == nil {
			passed++
		}
	}
	if held := strings.Count(rows, "[x]"); passed != held || held == 0 {
		t.Errorf("%d tests passed, and %d clauses held", passed, held)
	}
}
