package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// asUser is the environment variable that selects the subject when the test binary is run again, in a separate
// directory.
const asUser = "THREELAWS_CONFORMANCE_AS_USER"

// TestAsUser is a user's test of a controller. The tests below run it and check its output.
func TestAsUser(t *testing.T) {
	subjects := map[string]Subject{
		"right":   sample(widget(false, wrong{})),
		"shares":  sample(widget(false, wrong{shares: true})),
		"nothing": sample(widget(false, wrong{nothing: true})),
	}
	s, ok := subjects[os.Getenv(asUser)]
	if !ok {
		t.Skip("it is run by the other tests of this file")
	}
	Test(t, s)
}

// user runs TestAsUser in a directory with the sample.
type user struct{ dir string }

func newUser(t *testing.T) user {
	u := user{t.TempDir()}
	if err := os.CopyFS(filepath.Join(u.dir, "testdata"), os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u user) run(t *testing.T, who string, args ...string) (out string, passed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestAsUser$", "-test.v"}, args...)...)
	cmd.Dir, cmd.Env = u.dir, append(os.Environ(), asUser+"="+who)
	text, err := cmd.CombinedOutput()
	return string(text), err == nil
}

func (u user) kept(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join(u.dir, "testdata/threelaws/*/*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A failure is kept under one name, and first replayed by the next test. A test that passes does not change its file.
func TestFailuresAreKept(t *testing.T) {
	u := newUser(t)
	out, passed := u.run(t, "shares", "-threelaws.schedules=20")
	first := u.kept(t)
	if passed || len(first) == 0 || !strings.Contains(out, "orphan/dont-interfere") ||
		!strings.Contains(out, "laws/LAW-2-dont-interfere") {
		t.Fatalf("passed %v, kept %q\n%s", passed, first, out)
	}
	for _, file := range first {
		path := strings.TrimSuffix(file, ".txtar") + ".html"
		page, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(page), "<!DOCTYPE html>") ||
			!strings.Contains(out, "page: "+strings.TrimPrefix(path, u.dir+"/")) {
			t.Errorf("no page beside %s, or it is not named: %v\n%s", file, err, out)
		}
		if ignored, err := os.ReadFile(filepath.Join(filepath.Dir(file), ".gitignore")); err != nil ||
			!strings.HasPrefix(string(ignored), "*.html\n") {
			t.Errorf("git does not ignore the page: %q, %v", ignored, err)
		}
	}
	out, passed = u.run(t, "shares", "-threelaws.schedules=20")
	if again := u.kept(t); passed || strings.Join(again, " ") != strings.Join(first, " ") {
		t.Errorf("kept %q, then %q", first, again)
	}
	if !strings.Contains(out, "--- FAIL: TestAsUser/orphan/replay/dont-interfere-") {
		t.Errorf("nothing was replayed\n%s", out)
	}
	if !strings.Contains(out, "violated in orphan") || !strings.Contains(out, "were not explored") {
		t.Errorf("the replay is not reported\n%s", out)
	}
	file := strings.TrimPrefix(first[0], u.dir+"/")
	out, passed = u.run(t, "shares", "-threelaws.replay="+file)
	if passed || strings.Contains(out, "TestAsUser/laws/") {
		t.Errorf("-threelaws.replay: passed %v\n%s", passed, out)
	}
	was, err := os.ReadFile(first[0])
	if err != nil {
		t.Fatal(err)
	}
	if out, passed = u.run(t, "right", "-threelaws.schedules=5"); !passed {
		t.Errorf("the fixed operator fails\n%s", out)
	}
	if is, err := os.ReadFile(first[0]); err != nil || string(is) != string(was) {
		t.Errorf("a run that passes has changed %s: %v", first[0], err)
	}
	if out, passed = u.run(t, "right", "-threelaws.replay=testdata/threelaws/TestOther/a.txtar"); passed ||
		!strings.Contains(out, "no case of this test is written to a directory TestOther") {
		t.Errorf("a file of another test: passed %v\n%s", passed, out)
	}
	if out, _ = u.run(t, "shares", "-threelaws.results=r", "-threelaws.schedules=2"); strings.Contains(out, "/replay/") || strings.Contains(out, "not explored") {
		t.Errorf("the shard of a campaign depends on what earlier runs kept\n%s", out)
	}
}

// If the test passes, its output says what was exercised. An operator that does nothing does not pass.
func TestSummary(t *testing.T) {
	u := newUser(t)
	out, passed := u.run(t, "right", "-threelaws.schedules=5")
	if !passed || !strings.Contains(out, ": no law is violated in what was tried. Laws of ownership: 14 held, 0 "+
		"violated, 2 not exercised, 3 not judged, 11 do not apply. 30 of 34 cases were explored, 0 failed; schedules: 150") {
		t.Errorf("passed %v\n%s", passed, out)
	}
	if out, passed := u.run(t, "nothing"); passed || !strings.Contains(out, "it did nothing for its owner") {
		t.Errorf("the operator that does nothing: passed %v\n%s", passed, out)
	}
}

// Neither rapid nor the fuzzer finds a failure of a right operator.
func TestProperty(t *testing.T) { rapid.Check(t, Property(t, sample(widget(true, wrong{})))) }

func FuzzSample(f *testing.F) { Fuzz(f, sample(widget(true, wrong{}))) }
