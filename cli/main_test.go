package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/host"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// outcomeOf is what a command line came to.
type outcomeOf struct {
	code     int
	out, err string
}

// threelaws runs a command line in this process.
func threelaws(ctx context.Context, g *scenarios.Registry, args ...string) outcomeOf {
	var out, err bytes.Buffer
	c := Command{Registry: g, Bare: true, Name: "threelaws", Library: scenarios.Library(), Out: &out, Err: &err}
	return outcomeOf{c.Run(ctx, args), out.String(), err.String()}
}

func cli(t *testing.T, args ...string) outcomeOf {
	t.Helper()
	return threelaws(t.Context(), builtin.Registry(), args...)
}

// typed runs a command line that has no blanks in its words.
func typed(t *testing.T, line string) outcomeOf {
	t.Helper()
	return cli(t, strings.Fields(line)...)
}

var durations = regexp.MustCompile(`\b[0-9.]+m?s$`)

// work goes to a copy of the test's files, so that commands can be given paths
// as a user types them, and write.
func work(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// stable takes out what differs from run to run: how long it took.
func stable(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(durations.ReplaceAllString(strings.TrimSuffix(line, "\n"), "TIME") + "\n")
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	t.Setenv("CI", "")
	for _, c := range []struct{ name, args string }{
		{"help", "help"},
		{"help-explore", "help explore"},
		{"help-verb", "help scenario switch"},
		{"run", "run testdata/settles.txtar"},
		{"run-verbose", "run -v testdata/settles.txtar"},
		{"run-differs", "run testdata/settles.txtar testdata/differs.txtar"},
		{"run-breaks", "run testdata/breaks.txtar"},
		{"run-fights", "run testdata/fights.txtar"},
		{"explore", "explore -n 40 testdata/settles.txtar"},
		{"explore-fight", "explore -n 40 --era selector --out OUT testdata/settles.txtar"},
		{"explore-exhaustive",
			"explore --strategy exhaustive --era controllerref --out OUT testdata/breaks.txtar"},
		{"show", "show testdata/fights.txtar"},
		{"show-tree", "show --as tree testdata/settles.txtar"},
		{"show-tree-at", "show --as tree --at 3 testdata/settles.txtar"},
		{"show-dot", "show --as dot testdata/settles.txtar"},
		{"show-dot-fight", "show --as dot testdata/fights.txtar"},
		{"laws", "laws --dir testdata LAW-3 never-fight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("testdata", "golden", c.name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			work(t)
			got := cli(t, strings.Fields(c.args)...)
			compare(t, path, fmt.Sprintf("$ threelaws %s\n%sexit %d\n", c.args, stable(got.out+got.err), got.code))
			for line := range strings.Lines(got.out) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > render.Width {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s: want\n%s\ngot\n%s", path, want, got)
	}
}

// A failure that explore writes is run exactly by replay, twice, and passes as
// a scenario.
func TestFailureReplays(t *testing.T) {
	dir := t.TempDir()
	got := cli(t, "explore", "-n", "40", "--era", "selector", "--out", dir, "testdata/settles.txtar")
	if got.code != scenarios.ExitFail {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	files, err := new(shelf).find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	fights := 0
	for _, f := range files {
		got := cli(t, "replay", f)
		again := cli(t, "replay", f)
		if got.code != scenarios.ExitFail || !strings.Contains(got.out, "reproduced: ") {
			t.Errorf("%s: exit %d\n%s%s", f, got.code, got.out, got.err)
		}
		if got != again {
			t.Errorf("two replays differ:\n%s\n%s", got.out, again.out)
		}
		if strings.Contains(got.out, "the fight: ") {
			fights++
		}
		if got := cli(t, "run", f); got.code != scenarios.ExitPass {
			t.Errorf("run %s: exit %d\n%s%s", f, got.code, got.out, got.err)
		}
	}
	if fights != 1 {
		t.Errorf("%d of %d failures are fights, want 1", fights, len(files))
	}
}

// A kept failure of a controller that the command does not know is replayed by the test, or the check, that knows it.
func TestReplayOfUnknownController(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, want := range map[string]string{
		"pkg/testdata/threelaws/TestOwnership-faults/exact-sum-01ab.txtar": "unknown controller operator; it is replayed by " +
			"go test ./pkg -run '^TestOwnership$' " +
			"-threelaws.replay=testdata/threelaws/TestOwnership-faults/exact-sum-01ab.txtar\n",
		"testdata/threelaws/FuzzOwnership/exact-sum-01ab.txtar": "; it is replayed by go test . -run '^FuzzOwnership$' ",
		"testdata/threelaws/widget-faults/exact-sum-01ab.txtar": "; it is replayed by threelaws check --replay " +
			"testdata/threelaws/widget-faults/exact-sum-01ab.txtar\n",
		"widget-faults/exact-sum-01ab.txtar": "unknown controller operator; there are ",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("controllers operator\nsettle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := typed(t, "replay "+path); got.code != scenarios.ExitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: exit %d\n got %s\nwant %s", path, got.code, got.err, want)
		}
	}
}

func TestReplayOfAPassingFile(t *testing.T) {
	got := cli(t, "replay", "testdata/settles.txtar")
	if got.code != scenarios.ExitPass ||
		!regexp.MustCompile(`^no law is broken; hash [0-9a-f]{16}, twice\n$`).MatchString(got.out) {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// A controller that is no function of its inputs is found out.
func TestReplayFindsNondeterminism(t *testing.T) {
	g := builtin.Registry()
	starts := 0
	for i, c := range g.Controllers {
		if c.Name != "replicaset" {
			continue
		}
		g.Controllers[i].New = func(env *host.Env) host.Reconciler {
			real := c.New(env)
			if starts++; starts%2 == 0 {
				return host.SyncFunc(func(context.Context, string) error { return nil })
			}
			return real
		}
	}
	got := threelaws(t.Context(), g, "replay", "testdata/settles.txtar")
	if got.code != scenarios.ExitNondetermine ||
		!strings.Contains(got.err, "two runs of one schedule differ at step ") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestRunUpdate(t *testing.T) {
	work(t)
	t.Setenv("CI", "")
	path := filepath.Join(t.TempDir(), "a.txtar")
	before := copyFile(t, "testdata/differs.txtar", path)
	t.Setenv("CI", "true")
	if got := cli(t, "run", "-update", path); got.code != scenarios.ExitUsage || read(t, path) != before {
		t.Errorf("under CI: exit %d\n%s%s", got.code, got.out, got.err)
	}
	t.Setenv("CI", "")
	if got := cli(t, "run", "--update", path); got.code != scenarios.ExitPass ||
		!strings.Contains(got.out, "1 updated") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	if !strings.Contains(read(t, path), "\nrs/a  a-1\n") {
		t.Errorf("not updated:\n%s", read(t, path))
	}
	if got := cli(t, "run", path); got.code != scenarios.ExitPass {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	before = copyFile(t, "testdata/breaks.txtar", path)
	if got := cli(t, "run", "--update", path); got.code != scenarios.ExitFail || read(t, path) != before {
		t.Errorf("a broken law was blessed: exit %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestJSON(t *testing.T) {
	work(t)
	for _, args := range []string{
		"run testdata/settles.txtar testdata/breaks.txtar", "explore -n 10 testdata/settles.txtar",
		"replay testdata/settles.txtar",
		"replay testdata/breaks.txtar", "show --as timeline testdata/settles.txtar",
		"show --as tree testdata/settles.txtar", "laws", "help", "help run", "help scenario",
		"help scenario settle",
	} {
		got := cli(t, append([]string{"--json"}, strings.Fields(args)...)...)
		if !json.Valid([]byte(got.out)) || got.out == "" || got.err != "" {
			t.Errorf("%s: no JSON:\n%s%s", args, got.out, got.err)
		}
	}
}

// A file may come from standard input, for every command that takes one.
func TestStandardInput(t *testing.T) {
	work(t)
	text := read(t, "testdata/settles.txtar")
	for _, c := range []struct{ args, text, want, err string }{
		{"run -", text, "1 file, 1 passed", ""},
		{"explore -n 5 -", text, "5 schedules", ""},
		{"replay -", text, "no law is broken", ""},
		{"show -", text, "create", ""},
		{"run -", "aply x\n", "", "stdin:1: unknown verb aply; did you mean apply?\n"},
	} {
		var out, err bytes.Buffer
		Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", In: strings.NewReader(c.text), Out: &out,
			Err: &err}.Run(t.Context(), strings.Fields(c.args))
		if !strings.Contains(out.String(), c.want) || err.String() != c.err {
			t.Errorf("%s: %s%s", c.args, out.String(), err.String())
		}
	}
}

// A settle whose output nothing is held against is said to be one.
func TestLooseSettles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txtar",
		[]byte("controllers replicaset\nsettle quiet\nsettle\n! settle\nsettle\n----\nsettled at 0s after 0 writes\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("b.txtar", []byte("controllers replicaset\nsettle\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := cli(t, "run", "-v", "b.txtar")
	if got.code != 0 || !strings.Contains(got.out, "1 passed, 1 settle without ----") ||
		!strings.Contains(got.out, "settle   (no ---- beneath it") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	if got := cli(t, "run", "a.txtar"); !strings.Contains(got.out, "1 settle without ----") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// What explore writes of itself is out of the way of run and of git.
func TestFailuresAreNoScenarios(t *testing.T) {
	work(t)
	got := cli(t, "explore", "-n", "20", "--era", "selector", "testdata/settles.txtar")
	if got.code != scenarios.ExitFail {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	files, err := new(shelf).find([]string{"."})
	if err != nil || len(files) != 4 {
		t.Errorf("run . finds %s, %v", files, err)
	}
	failures, err := new(shelf).find([]string{".threelaws"})
	if err != nil || len(failures) == 0 {
		t.Errorf("there are no failures: %v", err)
	}
	if got := read(t, ".threelaws/.gitignore"); got != "*\n" {
		t.Errorf(".gitignore is %q", got)
	}
}

// A file keeps its line ends when its golden text is rewritten.
func TestUpdateKeepsLineEnds(t *testing.T) {
	t.Setenv("CI", "")
	work(t)
	text := strings.ReplaceAll(read(t, "testdata/differs.txtar"), "\n", "\r\n")
	if err := os.WriteFile("a.txtar", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := cli(t, "run", "--update", "a.txtar"); !strings.Contains(got.out, "1 updated") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	if got := read(t, "a.txtar"); strings.Count(got, "\n") != strings.Count(got, "\r\n") || got == text ||
		strings.Contains(got, "\r\r") {
		t.Errorf("line ends are mixed:\n%q", got)
	}
	if got := cli(t, "run", "--update", "a.txtar"); got.code != 0 || strings.Contains(got.out, "updated") {
		t.Errorf("rewritten again: exit %d\n%s%s", got.code, got.out, got.err)
	}
}

func TestShowRecords(t *testing.T) {
	got := cli(t, "show", "--json", "testdata/settles.txtar")
	n, commits := 0, 0
	for line := range strings.Lines(got.out) {
		var r struct {
			Index  int
			Op     string
			Verb   string
			Object struct{ Kind string }
			After  struct{ Kind string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Index != n {
			t.Fatalf("record %d comes as number %d", r.Index, n)
		}
		if r.Op == "commit" && r.Verb == "create" && r.Object.Kind == "Pod" && r.After.Kind == "Pod" {
			commits++
		}
		n++
	}
	if commits != 3 {
		t.Errorf("%d pods are created in %d records, want 3", commits, n)
	}
}

// An interrupt ends every long command with what it has.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{
		"run testdata/settles.txtar", "explore -n 1000000 testdata/settles.txtar",
		"explore --strategy exhaustive testdata/settles.txtar",
	} {
		got := threelaws(ctx, builtin.Registry(), strings.Fields(args)...)
		if got.code != exitInterrupted || !strings.Contains(got.out, "interrupted") {
			t.Errorf("%s: exit %d\n%s%s", args, got.code, got.out, got.err)
		}
	}
}

func TestWorstExitCodeCounts(t *testing.T) {
	for _, c := range []struct{ a, b, want int }{
		{0, 3, 3}, {3, 1, 1}, {1, 4, 4}, {4, 2, 2}, {2, 1, 2}, {1, 3, 1},
		{0, 5, 5}, {5, 3, 3}, {5, 1, 1}, {130, 5, 5}, {0, 130, 130}, {130, 1, 1},
	} {
		if got := worse(c.a, c.b); got != c.want {
			t.Errorf("worse(%d, %d) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func copyFile(t *testing.T, from, to string) string {
	t.Helper()
	text := read(t, from)
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Several files are explored one after the other, each under its name; one that is
// wrong does not end it, and the worst exit code counts.
func TestExploreSeveral(t *testing.T) {
	work(t)
	copyFile(t, "testdata/settles.txtar", "a.txtar")
	if err := os.WriteFile("b.txtar", []byte("aply x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	copyFile(t, "testdata/fights.txtar", "c.txtar")
	got := typed(t, "explore -n 5 a.txtar b.txtar c.txtar")
	for _, want := range []string{"=== a.txtar\n5 schedules, ", "=== b.txtar\n", "=== c.txtar\n5 schedules, ",
		"3 files explored, "} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing:\n%s", want, got.out)
		}
	}
	if got.code != scenarios.ExitUsage || got.err != "b.txtar:1: unknown verb aply; did you mean apply?\n" {
		t.Errorf("exit %d, %s", got.code, got.err)
	}
	if got := typed(t, "explore -n 5 a.txtar c.txtar"); got.code != scenarios.ExitFail {
		t.Errorf("exit %d", got.code)
	}
	documents := 0
	out := typed(t, "explore --json -n 5 a.txtar c.txtar").out
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); documents++ {
		var x exploration
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
	}
	if documents != 2 {
		t.Errorf("%d documents, want 2", documents)
	}
}
