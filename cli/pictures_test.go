package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

// isPage reports whether a file holds a whole page of a run, not too large to be sent.
func isPage(t *testing.T, path, says string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if !strings.HasPrefix(string(text), "<!DOCTYPE html>") || !strings.HasSuffix(string(text), "</html>\n") ||
		!strings.Contains(string(text), says) || len(text) > 300_000 {
		t.Errorf("%s is no page of %s: %d bytes", path, says, len(text))
	}
}

// Whatever fails leaves a page and says where: explore beside the file that replays it,
// with the run as it was found as well; run and replay in .threelaws.
func TestFailuresLeavePages(t *testing.T) {
	work(t)
	got := typed(t, "explore -n 40 --era selector --out OUT testdata/settles.txtar")
	found, _ := filepath.Glob("OUT/*.html")
	if len(found) == 0 {
		t.Fatalf("explore left no page:\n%s%s", got.out, got.err)
	}
	for _, path := range found {
		isPage(t, path, `"name":"as it was found"`)
		file := strings.TrimSuffix(path, ".html") + ".txtar"
		if _, err := os.Stat(file); err != nil || !strings.Contains(got.out, "page: "+path) {
			t.Errorf("%s is not beside its file, or not named: %v\n%s", path, err, got.out)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		again := cli(t, "replay", file)
		isPage(t, filepath.Join(failuresDir, "OUT-"+filepath.Base(path)), `"replay":"threelaws replay `)
		if !strings.Contains(again.out, "page: "+failuresDir) {
			t.Errorf("replay does not say where its page is:\n%s", again.out)
		}
	}
	typed(t, "run testdata/fights.txtar")
	isPage(t, filepath.Join(failuresDir, "testdata-fights-never-fight.html"), `"law":"never-fight"`)
	if ignored, err := os.ReadFile(filepath.Join(failuresDir, ".gitignore")); string(ignored) != "*\n" {
		t.Errorf("git takes %s: %q, %v", failuresDir, ignored, err)
	}
}

// A run that passes leaves nothing.
func TestNoPageOfWhatPasses(t *testing.T) {
	work(t)
	typed(t, "run testdata/settles.txtar")
	if _, err := os.Stat(failuresDir); err == nil {
		t.Error("run left a directory of failures where nothing failed")
	}
}

// That no page can be written changes nothing of the verdict, and is told.
func TestPageThatCannotBeWritten(t *testing.T) {
	work(t)
	if err := os.WriteFile(failuresDir, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := typed(t, "run testdata/fights.txtar")
	if got.code != scenarios.ExitNotSettled || !strings.Contains(got.err, "threelaws: no page is left: ") {
		t.Errorf("exit %d\n%s", got.code, got.err)
	}
}

// Run writes a page of every file, and one that leads to them all.
func TestRunWritesPages(t *testing.T) {
	work(t)
	typed(t, "run --html PAGES testdata/settles.txtar testdata/fights.txtar")
	isPage(t, "PAGES/testdata-settles.html", `"breaks":[]`)
	isPage(t, "PAGES/testdata-fights.html", `"law":"never-fight"`)
	isPage(t, "PAGES/index.html", `<td class="broken"><a href="./testdata-fights.html">broken</a></td>`)
	copyFile(t, "testdata/settles.txtar", "testdata-settles.txtar")
	got := typed(t, "run --html PAGES testdata-settles.txtar testdata/settles.txtar")
	if got.code != scenarios.ExitUsage || !strings.Contains(got.err, "have one page, testdata-settles.html") {
		t.Errorf("two files with one page: exit %d\n%s", got.code, got.err)
	}
	if got := typed(t, "run --html testdata/fights.txtar testdata/settles.txtar"); got.code != scenarios.ExitUsage {
		t.Errorf("a file as the directory of pages: exit %d\n%s", got.code, got.err)
	}
}

// Show prints a page and a picture.
func TestShowPageAndPicture(t *testing.T) {
	got := typed(t, "show --as html testdata/fights.txtar")
	if !strings.Contains(got.out, `"law":"never-fight"`) || !strings.HasPrefix(got.out, "<!DOCTYPE html>") {
		t.Errorf("the page begins with %.80s", got.out)
	}
	got = typed(t, "show --as svg testdata/fights.txtar")
	if !strings.HasPrefix(got.out, "<svg ") || !strings.Contains(got.out, ">for ever</text>") {
		t.Errorf("the picture:\n%s", got.out)
	}
}

// The picture of the tour is that of the fight that it tells of.
func TestPictureOfTheFight(t *testing.T) {
	dir := t.TempDir()
	typed(t, "explore -n 1 --laws NOFIGHT-1 --out "+dir+" overlap/selector-generation-fights")
	found, _ := filepath.Glob(filepath.Join(dir, "selector-generation-fights-never-fight-*.txtar"))
	if len(found) != 1 {
		t.Fatalf("explore left %v", found)
	}
	path, err := filepath.Abs("../docs/use/fight.svg")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	here := filepath.Base(found[0])
	picture := strings.ReplaceAll(typed(t, "show --as svg "+here).out, here, "selector-generation-fights")
	compare(t, path, picture)
}
