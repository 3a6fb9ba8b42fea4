package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// outcomeOf is the result of a command line.
type outcomeOf struct {
	code     int
	out, err string
}

// wants checks the exit code, and that the output contains the texts in this order.
func (o outcomeOf) wants(t *testing.T, code int, texts ...string) {
	t.Helper()
	if missing := inOrderIn(o.out+o.err, texts...); missing != "" || o.code != code {
		t.Errorf("exit code %d, want %d; %q is missing, or not in its place:\n%s%s", o.code, code, missing, o.out, o.err)
	}
}

// passes wants exit code 0, the texts in this order, and nothing on stderr.
func (o outcomeOf) passes(t *testing.T, texts ...string) {
	t.Helper()
	o.wants(t, 0, texts...)
	if o.err != "" {
		t.Errorf("on stderr: %s", o.err)
	}
}

// oneLine wants exit code 2, nothing on stdout, and on stderr one line that begins with begin and contains the texts.
func (o outcomeOf) oneLine(t *testing.T, begin string, texts ...string) {
	t.Helper()
	if o.out != "" || !strings.HasPrefix(o.err, begin) || strings.Index(o.err, "\n") != len(o.err)-1 {
		t.Errorf("%q\n%q is not one line that begins with %q", o.out, o.err, begin)
	}
	o.wants(t, scenarios.ExitUsage, texts...)
}

// inOrderIn returns the first of the parts that does not follow the parts before it, or "".
func inOrderIn(text string, parts ...string) string {
	for _, p := range parts {
		_, rest, ok := strings.Cut(text, p)
		if !ok {
			return p
		}
		text = rest
	}
	return ""
}

// try runs a command line in this process. A Command without a Registry gets this module's controllers.
func (c Command) try(ctx context.Context, args ...string) outcomeOf {
	var out, err bytes.Buffer
	if c.Registry == nil {
		c.Registry, c.Bare = builtin.Registry(), true
	}
	c.Name, c.Out, c.Err = cmp.Or(c.Name, "threelaws"), &out, &err
	return outcomeOf{c.Run(ctx, args), out.String(), err.String()}
}

func threelaws(ctx context.Context, g *scenarios.Registry, args ...string) outcomeOf {
	return Command{Registry: g, Bare: true, Library: scenarios.Library()}.try(ctx, args...)
}

func cli(t *testing.T, args ...string) outcomeOf {
	t.Helper()
	return threelaws(t.Context(), builtin.Registry(), args...)
}

func typed(t *testing.T, line string) outcomeOf {
	t.Helper()
	return cli(t, strings.Fields(line)...)
}

var durations = regexp.MustCompile(`(?m)\b[0-9.]+m?s$`)

// work makes a copy of testdata the working directory, so that commands can write there.
func work(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS("testdata")))
	t.Chdir(dir)
}

// stable replaces durations, which differ from run to run.
func stable(text string) string { return durations.ReplaceAllString(text, "TIME") }

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
		{"explore-exhaustive", "explore --strategy exhaustive --era controllerref --out OUT testdata/breaks.txtar"},
		{"show", "show testdata/fights.txtar"},
		{"show-tree", "show --as tree testdata/settles.txtar"},
		{"show-tree-at", "show --as tree --at 3 testdata/settles.txtar"},
		{"show-dot", "show --as dot testdata/settles.txtar"},
		{"show-dot-fight", "show --as dot testdata/fights.txtar"},
		{"laws", "laws --dir testdata LAW-3 never-fight TTL-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("testdata", "golden", c.name+".txt"))
			must(t, err)
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
		write(t, path, got)
	} else if want := read(t, path); want != got {
		t.Errorf("%s: want\n%s\ngot\n%s", path, want, got)
	}
}

// Each command that takes a file can read standard input instead.
func TestStandardInput(t *testing.T) {
	work(t)
	text := read(t, "testdata/settles.txtar")
	for line, want := range map[string]string{"run -": "1 file, 1 passed", "explore -n 5 -": "5 schedules",
		"replay -": "no law is violated", "show -": "create"} {
		Command{In: strings.NewReader(text)}.try(t.Context(), strings.Fields(line)...).passes(t, want)
	}
	got := Command{In: strings.NewReader("aply x\n")}.try(t.Context(), "run", "-")
	if got.err != "stdin:1: unknown verb aply; did you mean apply?\n" {
		t.Error(got.err)
	}
}

// show --json prints the records of the run in order.
func TestShowRecords(t *testing.T) {
	n, creates := 0, 0
	for line := range strings.Lines(cli(t, "show", "--json", "testdata/settles.txtar").out) {
		var r recordJSON
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Index != n {
			t.Fatalf("record %d is number %d: %v", r.Index, n, err)
		}
		if r.Op == "commit" && r.Verb == "create" && r.Object.Kind == "Pod" && r.After != nil {
			creates++
		}
		n++
	}
	if creates != 3 {
		t.Errorf("%d pods are created in %d records, want 3", creates, n)
	}
}

// After an interrupt each long command ends and prints the results so far.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, line := range []string{
		"run testdata/settles.txtar", "explore -n 1000000 testdata/settles.txtar",
		"explore --strategy exhaustive testdata/settles.txtar",
	} {
		threelaws(ctx, builtin.Registry(), strings.Fields(line)...).wants(t, exitInterrupted, "interrupted")
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
	write(t, to, text)
	return text
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// A command fails if its output cannot be written.
func TestFullDisk(t *testing.T) {
	for _, line := range []string{
		"help", "help --json", "laws", "laws --json", "version", "completion bash",
		"run testdata/settles.txtar", "show testdata/settles.txtar",
	} {
		var err bytes.Buffer
		c := Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: full{}, Err: &err}
		code := c.Run(t.Context(), strings.Fields(line))
		outcomeOf{code, line, err.String()}.wants(t, scenarios.ExitUsage, "no space left on device")
	}
}

// On a terminal, run shows its progress from the start and clears it at the end.
func TestRunShowsProgress(t *testing.T) {
	work(t)
	got := Command{Registry: builtin.Registry(), Bare: true, Library: scenarios.Library(), Live: true}.try(t.Context(), "run",
		"testdata/settles.txtar", "overlap/adoption-lost")
	got.wants(t, 0, "0 of 2 files", "1 of 2 files, 0 failed, ", "2 of 2 files")
	if !strings.HasSuffix(got.err, "\r\x1b[K") {
		t.Errorf("something is left on the terminal: %q", got.err)
	}
}

// On a terminal, a page is as wide as the terminal. In a file it has the default width.
func TestWidth(t *testing.T) {
	work(t)
	got := Command{Width: 72}.try(t.Context(), strings.Fields(
		"explore -n 20 --era selector --out a-directory-of-some-length testdata/settles.txtar")...)
	for line := range strings.Lines(got.out + got.err) {
		if n := len([]rune(line)) - 1; n > 72 && !strings.Contains(line, "threelaws ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	f, err := os.Open("testdata/settles.txtar")
	must(t, err)
	defer f.Close()
	if n := columns(f, "60"); n != render.Width {
		t.Errorf("a file has %d columns", n)
	}
}

func TestBuilt(t *testing.T) {
	main := debug.Module{Path: module, Version: "v0.3.0"}
	stamps := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "4708600"}, {Key: "vcs.time", Value: "2026-11-21T10:00:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}
	clone, other := debug.Module{Path: module, Version: "(devel)"}, debug.Module{Path: "example.com/w"}
	local := debug.Module{Path: module, Version: "v0.3.0", Replace: &debug.Module{Path: "../x", Version: "(devel)"}}
	for _, c := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"nothing is recorded", nil, "tl devel\n"},
		{"installed at a version", &debug.BuildInfo{GoVersion: "go1.26.8", Main: main},
			"tl v0.3.0\n  go         go1.26.8\n"},
		{"built in a clone", &debug.BuildInfo{GoVersion: "go1.26.8", Main: clone, Settings: stamps},
			"tl devel\n  revision   4708600, modified\n  time       2026-11-21T10:00:00Z\n  go         go1.26.8\n"},
		{"another module", &debug.BuildInfo{GoVersion: "go1.26.8", Main: other, Deps: []*debug.Module{&main}},
			"tl devel\n  threelaws  v0.3.0\n  go         go1.26.8\n"},
		{"another module, with this one replaced", &debug.BuildInfo{Deps: []*debug.Module{&local}},
			"tl devel\n  threelaws  devel\n"},
	} {
		v := built(c.info)
		v.Name = "tl"
		if got := v.text(); got != c.want {
			t.Errorf("%s:\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// "version" and "--version" print the same, in text and in JSON.
func TestVersion(t *testing.T) {
	for _, flag := range []string{"", "--json "} {
		command, flagged := cli(t, strings.Fields(flag+"version")...), cli(t, strings.Fields(flag+"--version")...)
		if command.code != 0 || command.out == "" || command != flagged {
			t.Errorf("%v and %v", command, flagged)
		}
	}
	var v versionJSON
	err := json.Unmarshal([]byte(cli(t, "version", "--json").out), &v)
	if err != nil || v.Name != "threelaws" || v.Version == "" || v.Go == "" {
		t.Errorf("%+v, %v", v, err)
	}
}

// must ends the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
