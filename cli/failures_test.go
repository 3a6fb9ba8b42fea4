package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

// Each failure file that explore writes replays exactly, twice, and runs as a scenario.
func TestFailureReplays(t *testing.T) {
	dir := t.TempDir()
	cli(t, "explore", "-n", "40", "--era", "selector", "--out", dir, "testdata/settles.txtar").wants(t, scenarios.ExitFail)
	files, err := new(shelf).find([]string{dir})
	must(t, err)
	fights := 0
	for _, f := range files {
		got, again := cli(t, "replay", f), cli(t, "replay", f)
		got.wants(t, scenarios.ExitFail, "reproduced: ")
		if got != again {
			t.Errorf("two replays differ:\n%s\n%s", got.out, again.out)
		}
		if strings.Contains(got.out, "the fight: ") {
			fights++
		}
		cli(t, "run", f).wants(t, scenarios.ExitPass)
	}
	if fights != 1 {
		t.Errorf("%d of %d failures are fights, want 1", fights, len(files))
	}
}

// If the command does not know the controller of a failure file, replay names the Go test or the check that replays it.
func TestReplayOfUnknownController(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, want := range map[string]string{
		"pkg/testdata/threelaws/TestOwnership-faults/exact-sum-01ab.txtar": "unknown controller operator; replay it with " +
			"go test ./pkg -run '^TestOwnership$' " +
			"-threelaws.replay=testdata/threelaws/TestOwnership-faults/exact-sum-01ab.txtar\n",
		"testdata/threelaws/FuzzOwnership/exact-sum-01ab.txtar": "; replay it with go test . -run '^FuzzOwnership$' ",
		"testdata/threelaws/widget-faults/exact-sum-01ab.txtar": "; replay it with threelaws check --replay " +
			"testdata/threelaws/widget-faults/exact-sum-01ab.txtar\n",
		"widget-faults/exact-sum-01ab.txtar": "unknown controller operator; there are ",
	} {
		write(t, path, "controllers operator\nsettle\n")
		typed(t, "replay "+path).wants(t, scenarios.ExitUsage, want)
	}
}

// replay reports a controller that behaves differently in two runs of the same schedule.
func TestReplayFindsNondeterminism(t *testing.T) {
	g := builtin.Registry()
	starts := 0
	for i, c := range g.Controllers {
		if c.Name != "replicaset" {
			continue
		}
		g.Controllers[i].New = func(env *host.Env) host.Reconciler {
			if starts++; starts%2 == 0 {
				return host.SyncFunc(func(context.Context, string) error { return nil })
			}
			return c.New(env)
		}
	}
	threelaws(t.Context(), g, "replay", "testdata/settles.txtar").wants(t, scenarios.ExitNondetermine,
		"two runs of one schedule differ at step ")
}

// run does not take the failure files of explore for scenarios.
func TestFailuresAreNoScenarios(t *testing.T) {
	work(t)
	typed(t, "explore -n 20 --era selector testdata/settles.txtar").wants(t, scenarios.ExitFail)
	for dir, want := range map[string]int{".": 4, failuresDir: 2} {
		if files, err := new(shelf).find([]string{dir}); err != nil || len(files) != want {
			t.Errorf("run %s finds %s, want %d files: %v", dir, files, want, err)
		}
	}
}

// explore takes several files, one after the other. It continues after a bad file, and exits with the worst exit code.
func TestExploreSeveral(t *testing.T) {
	work(t)
	copyFile(t, "testdata/settles.txtar", "a.txtar")
	write(t, "b.txtar", "aply x\n")
	copyFile(t, "testdata/fights.txtar", "c.txtar")
	typed(t, "explore -n 5 a.txtar b.txtar c.txtar").wants(t, scenarios.ExitUsage, "=== a.txtar\n5 schedules, ",
		"=== b.txtar\n", "=== c.txtar\n5 schedules, ", "3 files explored, ",
		"b.txtar:1: unknown verb aply; did you mean apply?\n")
	typed(t, "explore -n 5 a.txtar c.txtar").wants(t, scenarios.ExitFail)
	documents := 0
	out := typed(t, "explore --json -n 5 a.txtar c.txtar").out
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); documents++ {
		var x exploration
		must(t, d.Decode(&x))
	}
	if documents != 2 {
		t.Errorf("%d documents, want 2", documents)
	}
}

// isPage fails the test unless the file is a page of limited size that contains the text.
func isPage(t *testing.T, path, says string) {
	t.Helper()
	text := read(t, path)
	if !strings.HasPrefix(text, "<!DOCTYPE html>") || !strings.HasSuffix(text, "</html>\n") ||
		!strings.Contains(text, says) || len(text) > 300_000 {
		t.Errorf("%s is no page with %s: %d bytes", path, says, len(text))
	}
}

// Each failure gets a page. explore writes it beside the failure file, with the run before minimizing; run and replay
// write it below .threelaws. A run that passes gets none.
func TestFailuresLeavePages(t *testing.T) {
	work(t)
	typed(t, "run testdata/settles.txtar").passes(t)
	if onDisk(failuresDir) {
		t.Error("run left a directory of failures, and nothing failed")
	}
	got := typed(t, "explore -n 40 --era selector --out OUT testdata/settles.txtar")
	found, _ := filepath.Glob("OUT/*.html")
	if len(found) == 0 {
		t.Fatalf("explore left no page:\n%s%s", got.out, got.err)
	}
	for _, path := range found {
		isPage(t, path, `"name":"before minimizing"`)
		file := strings.TrimSuffix(path, ".html") + ".txtar"
		if !onDisk(file) || !strings.Contains(got.out, "page: "+path) {
			t.Errorf("%s is not beside its file, or not named\n%s", path, got.out)
		}
		must(t, os.Remove(path))
		cli(t, "replay", file).wants(t, scenarios.ExitFail, "page: "+failuresDir)
		isPage(t, filepath.Join(failuresDir, "OUT-"+filepath.Base(path)), `"replay":"threelaws replay `)
	}
	typed(t, "run testdata/fights.txtar")
	isPage(t, filepath.Join(failuresDir, "testdata-fights-never-fight.html"), `"law":"never-fight"`)
	if ignored := read(t, filepath.Join(failuresDir, ".gitignore")); ignored != "*\n" {
		t.Errorf(".gitignore is %q", ignored)
	}
}

// If a page or a failure file cannot be written, the command says so, and its verdict stays the same.
func TestNothingCanBeWritten(t *testing.T) {
	work(t)
	write(t, failuresDir, "")
	typed(t, "run testdata/fights.txtar").wants(t, scenarios.ExitNotSettled, "threelaws: no page was written: ")
	write(t, "taken", "")
	got := typed(t, "explore -n 20 --era selector --out taken testdata/settles.txtar")
	got.wants(t, scenarios.ExitUsage, "VIOLATES", "threelaws: --out: ")
	if strings.Contains(got.out, "replay: ") {
		t.Errorf("the output names a file, but none was written:\n%s", got.out)
	}
}

// run --html writes a page for each file, and an index.
func TestRunWritesPages(t *testing.T) {
	work(t)
	typed(t, "run --html PAGES testdata/settles.txtar testdata/fights.txtar")
	isPage(t, "PAGES/testdata-settles.html", `"breaks":[]`)
	isPage(t, "PAGES/testdata-fights.html", `"law":"never-fight"`)
	isPage(t, "PAGES/index.html", `<td class="violated"><a href="./testdata-fights.html">violated</a></td>`)
	copyFile(t, "testdata/settles.txtar", "testdata-settles.txtar")
	typed(t, "run --html PAGES testdata-settles.txtar testdata/settles.txtar").wants(t, scenarios.ExitUsage,
		"have the same page, testdata-settles.html")
	typed(t, "run --html testdata/fights.txtar testdata/settles.txtar").wants(t, scenarios.ExitUsage)
}

// The picture in the tour shows the fight of its scenario. A scenario can be shown as a page, too.
func TestPictureOfTheFight(t *testing.T) {
	got := typed(t, "show --as html testdata/fights.txtar")
	got.passes(t, "<!DOCTYPE html>", `"law":"never-fight"`)
	dir := t.TempDir()
	typed(t, "explore -n 1 --laws NOFIGHT-1 --out "+dir+" overlap/selector-era-fights")
	found, _ := filepath.Glob(filepath.Join(dir, "selector-era-fights-never-fight-*.txtar"))
	if len(found) != 1 {
		t.Fatalf("explore left %v", found)
	}
	path, err := filepath.Abs("../docs/use/fight.svg")
	must(t, err)
	t.Chdir(dir)
	here := filepath.Base(found[0])
	picture := strings.ReplaceAll(typed(t, "show --as svg "+here).out, here, "selector-era-fights")
	compare(t, path, picture)
}
