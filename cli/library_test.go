package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// Away from any clone, the scenarios in the program are found by family and name
// by every command that takes a file, and what is found in them is written and
// replayed as ever.
func TestLibrary(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"run upgrade", " passed, "},
		{"run overlap/adoption-lost", "1 file, 1 passed"},
		{"run overlap/adoption-lost.txtar adoption-lost", "1 file, 1 passed"},
		{"show adoption-lost", "adopt    pod/p1"},
		{"replay overlap/adoption-lost", "no law is broken"},
		{"explore -n 5 overlap/adoption-lost", "5 schedules, "},
		{"laws LAW-2", "overlap/"},
	} {
		got := cli(t, strings.Fields(c.args)...)
		if got.code != 0 || got.err != "" || !strings.Contains(got.out, c.want) {
			t.Errorf("%s: exit %d\n%s%s", c.args, got.code, got.out, got.err)
		}
	}
	if left, _ := os.ReadDir("."); len(left) != 0 {
		t.Errorf("something was written: %v", left)
	}
	got := cli(t, "explore", "-n", "20", "overlap/selector-generation-fights")
	files, err := new(shelf).find([]string{failuresDir})
	if got.code != scenarios.ExitFail || err != nil || len(files) != 2 {
		t.Fatalf("exit %d, %v, %v\n%s%s", got.code, files, err, got.out, got.err)
	}
	for _, f := range files {
		if !strings.Contains(got.out, "replay: threelaws replay "+f) {
			t.Errorf("%s is not named", f)
		}
		if got := cli(t, "replay", f); got.code != scenarios.ExitFail || !strings.Contains(got.out, "reproduced: ") {
			t.Errorf("replay %s: exit %d\n%s%s", f, got.code, got.out, got.err)
		}
	}
}

// A path on the disk is meant before a name of the library, and nothing of the
// library is rewritten.
func TestTheDiskComesFirst(t *testing.T) {
	work(t)
	if err := os.MkdirAll("overlap", 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, "testdata/settles.txtar", filepath.Join("overlap", "mine.txtar"))
	if got := cli(t, "run", "overlap"); !strings.HasPrefix(got.out, "1 file, 1 passed") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	for _, c := range []struct{ args, want string }{
		{"run --update upgrade", "threelaws: run: --update has no file to rewrite: upgrade/"},
		{"run overlapp/x", "overlapp/x: cannot be read: "},
		{"run overlap/adoption-los", "overlap/adoption-los: cannot be read: no such file or directory; " +
			"did you mean overlap/adoption-lost, of the scenarios in this program?"},
		{"replay upgrade", "upgrade: this is a family of "},
	} {
		got := cli(t, strings.Fields(c.args)...)
		if got.code != scenarios.ExitUsage || !strings.HasPrefix(got.err, c.want) {
			t.Errorf("%s: exit %d, %q", c.args, got.code, got.err)
		}
	}
}

// Without arguments run takes ./scenarios, and the library only where there is
// none.
func TestRunWithoutArguments(t *testing.T) {
	work(t)
	var b strings.Builder
	own := Command{Registry: builtin.Registry(), Bare: true, Library: os.DirFS("testdata"), Out: &b, Err: &b}
	if code := own.Run(t.Context(), []string{"run"}); code != scenarios.ExitFail ||
		!strings.Contains(b.String(), "\n4 files of this program, 1 passed, 3 failed") {
		t.Errorf("exit %d\n%s", code, b.String())
	}
	if err := os.Mkdir("scenarios", 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, "testdata/settles.txtar", filepath.Join("scenarios", "mine.txtar"))
	if got := cli(t, "run"); got.code != 0 || !strings.HasPrefix(got.out, "1 file of ./scenarios, 1 passed") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.err)
	}
	t.Chdir(t.TempDir())
	b.Reset()
	bare := Command{Registry: builtin.Registry(), Bare: true, Name: "widgetctl", Out: &b, Err: &b}
	want := "widgetctl: run: a scenario file or a directory must be given\n"
	code := bare.Run(t.Context(), []string{"run"})
	if code != scenarios.ExitUsage || b.String() != want {
		t.Errorf("without a library: exit %d, %s", code, b.String())
	}
}
