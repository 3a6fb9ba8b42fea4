package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

// Each command that takes a file finds the scenarios in the binary by family and name, in any directory.
func TestLibrary(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"run upgrade", " passed, "},
		{"run overlap/adoption-lost", "1 file, 1 passed"},
		{"run overlap/adoption-lost.txtar adoption-lost", "1 file, 1 passed"},
		{"show adoption-lost", "adopt    pod/p1"},
		{"replay overlap/adoption-lost", "no law is violated; hash "},
		{"explore -n 5 overlap/adoption-lost", "5 schedules, "},
		{"laws LAW-2", "overlap/"},
	} {
		typed(t, c.args).passes(t, c.want)
	}
	if left, _ := os.ReadDir("."); len(left) != 0 {
		t.Errorf("something was written: %v", left)
	}
}

// A file on disk comes before a scenario in the binary of the same name. Scenarios in the binary cannot be rewritten.
func TestTheDiskComesFirst(t *testing.T) {
	work(t)
	write(t, "overlap/mine.txtar", read(t, "testdata/settles.txtar"))
	typed(t, "run overlap").passes(t, "1 file, 1 passed")
	for _, c := range []struct{ args, want string }{
		{"run --update upgrade", "threelaws: run: --update has no file to rewrite: upgrade/"},
		{"run overlapp/x", "overlapp/x: cannot be read: "},
		{"run overlap/adoption-los", "overlap/adoption-los: cannot be read: no such file or directory; " +
			"did you mean overlap/adoption-lost, of the scenarios in this program?"},
		{"replay upgrade", "upgrade: this is a family of "},
	} {
		typed(t, c.args).wants(t, scenarios.ExitUsage, c.want)
	}
}

// Without arguments, run takes ./scenarios, or the scenarios in the binary if there is no such directory.
func TestRunWithoutArguments(t *testing.T) {
	work(t)
	Command{Library: os.DirFS("testdata")}.try(t.Context(), "run").wants(t, scenarios.ExitFail,
		"\n4 files of this program, 1 passed, 3 failed")
	write(t, "scenarios/mine.txtar", read(t, "testdata/settles.txtar"))
	typed(t, "run").passes(t, "1 file of ./scenarios, 1 passed")
	t.Chdir(t.TempDir())
	Command{Name: "widgetctl"}.try(t.Context(), "run").wants(t, scenarios.ExitUsage,
		"widgetctl: run: a scenario file or a directory must be given\n")
}

// The JUnit file has a test case for each file. The test case of a failed file names its page.
func TestJUnit(t *testing.T) {
	work(t)
	write(t, "bad.txtar", "aply x\n")
	typed(t, "run --junit out.xml testdata bad.txtar").wants(t, scenarios.ExitUsage)
	outcomeOf{out: read(t, "out.xml")}.passes(t, `<testsuites tests="5" failures="3" errors="1"`, `<testcase name="breaks"`,
		` type="take-ownership">`, "--- FAIL: ", "</failure>", `<testcase name="settles"`, `></testcase>`, `<testcase name="bad"`,
		`<error message="unknown verb aply`)
	typed(t, "explore -n 20 --era selector --junit x.xml testdata/settles.txtar testdata/breaks.txtar").wants(t,
		scenarios.ExitFail)
	outcomeOf{out: read(t, "x.xml")}.passes(t, `<testsuites tests="2" failures="2" errors="0"`, ` type="take-ownership">`,
		"the fight: steps 6-7", "</failure>")
	typed(t, "run --junit no/such/dir.xml testdata/settles.txtar").wants(t, scenarios.ExitUsage,
		"threelaws: --junit no/such/dir.xml: no such directory: no/such")
}

// An annotation names file, line and law in one line. With --json, annotations are printed on stderr.
func TestAnnotations(t *testing.T) {
	work(t)
	annotated := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "::error ") {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
			}
		}
		return lines
	}
	got := annotated(cli(t, "run", "--annotations", "testdata").out)
	if len(got) != 3 || !strings.HasPrefix(got[0], "::error file=testdata/breaks.txtar,line=5,title=take-ownership::") {
		t.Fatal(strings.Join(got, "\n"))
	}
	if !strings.Contains(got[1], "title=output differs::") || !strings.Contains(got[1], "%0A") {
		t.Error(got[1])
	}
	x := typed(t, "explore --json --annotations -n 20 --era selector testdata/settles.txtar")
	got, want := annotated(x.err), "::error file=testdata/settles.txtar,title=take-ownership::"
	if len(got) != 2 || !strings.HasPrefix(got[0], want) || len(annotated(x.out)) != 0 {
		t.Errorf("%s\n%s", x.err, x.out)
	}
	if got := cli(t, "run", "testdata"); len(annotated(got.out)) != 0 {
		t.Error("there are annotations without the flag")
	}
	here, err := filepath.Abs(".")
	must(t, err)
	hub := Command{GitHub: true, Workspace: filepath.Dir(here)}.try(t.Context(), "run", "testdata")
	place := "::error file=" + filepath.Base(here) + "/testdata/breaks.txtar,line=5,"
	if got := annotated(hub.out); len(got) != 3 || !strings.HasPrefix(got[0], place) {
		t.Errorf("GitHub gets:\n%s", hub.out)
	}
}

// A printed command quotes the name of the file for the shell.
func TestCopiedCommand(t *testing.T) {
	work(t)
	for name, want := range map[string]string{
		"testdata/breaks.txtar": "threelaws replay testdata/breaks.txtar\n",
		"a b.txtar":             "threelaws replay 'a b.txtar'\n",
		"it's $(x).txtar":       `threelaws replay 'it'\''s $(x).txtar'` + "\n",
		"-n.txtar":              "threelaws replay ./-n.txtar\n",
	} {
		write(t, name, read(t, "testdata/breaks.txtar"))
		cli(t, "run", "--", name).wants(t, scenarios.ExitFail, want)
	}
	if got := argument(titleOf(stdin)); got != stdin {
		t.Errorf("standard input is %s", got)
	}
}

// A file that is replaced keeps its mode. A symbolic link stays a link, and a device is not replaced.
func TestWriteWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	err := errors.Join(os.WriteFile("secret", nil, 0o600), os.Symlink("secret", "link"), os.Symlink(os.DevNull, "null"))
	if err != nil {
		t.Skip("this file system has no links: ", err)
	}
	err = errors.Join(writeWhole("link", []byte("new")), writeWhole("fresh", []byte("new")), writeWhole("null", nil))
	must(t, err)
	for path, want := range map[string]os.FileMode{"secret": 0o600, "fresh": 0o644} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want || read(t, path) != "new" {
			t.Errorf("%s: %v %v", path, st, err)
		}
	}
	if to, err := os.Readlink("link"); to != "secret" {
		t.Errorf("the link is gone: %q, %v", to, err)
	}
	if st, err := os.Stat("null"); err != nil || st.Mode().IsRegular() {
		t.Errorf("the device is replaced: %v %v", st, err)
	}
	if left, _ := filepath.Glob(".threelaws-*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// --update rewrites golden text and keeps the file's line ends. It is refused in CI and if a law is violated.
func TestRunUpdate(t *testing.T) {
	work(t)
	path := filepath.Join(t.TempDir(), "a.txtar")
	before := copyFile(t, "testdata/differs.txtar", path)
	t.Setenv("CI", "true")
	if got := cli(t, "run", "-update", path); got.code != scenarios.ExitUsage || read(t, path) != before {
		t.Errorf("under CI: exit %d\n%s%s", got.code, got.out, got.err)
	}
	t.Setenv("CI", "")
	for _, end := range []string{"\n", "\r\n"} {
		write(t, path, strings.ReplaceAll(before, "\n", end))
		cli(t, "run", "--update", path).wants(t, scenarios.ExitPass, "1 updated")
		got := read(t, path)
		if !strings.Contains(got, end+"rs/a  a-1"+end) || strings.Count(got, "\n") != strings.Count(got, end) ||
			strings.Contains(got, "\r\r") {
			t.Errorf("not updated, or line ends are mixed:\n%q", got)
		}
		if got := cli(t, "run", "--update", path); got.code != 0 || strings.Contains(got.out, "updated") {
			t.Errorf("rewritten again: exit %d\n%s%s", got.code, got.out, got.err)
		}
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("files were left behind: %v, %v", files, err)
	}
	before = strings.Replace(read(t, "testdata/breaks.txtar"), "settle\n", "owners\n----\nold\n\nsettle\n", 1)
	write(t, path, before)
	if got := cli(t, "run", "--update", path); got.code != scenarios.ExitFail || read(t, path) != before {
		t.Errorf("a violation was accepted: exit %d\n%s%s", got.code, got.out, got.err)
	}
}

// run counts the settle steps that have no golden text.
func TestLooseSettles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.txtar", "controllers replicaset\nsettle quiet\nsettle\n! settle\nsettle\n----\nsettled at 0s after 0 writes\n")
	write(t, "b.txtar", "controllers replicaset\nsettle\n")
	typed(t, "run -v b.txtar").wants(t, 0, "settle   (no ---- beneath it", "1 passed, 1 settle without ----")
	typed(t, "run a.txtar").wants(t, scenarios.ExitFail, "1 settle without ----")
}
