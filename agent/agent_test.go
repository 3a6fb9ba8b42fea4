package agent_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// module is a copy of a module below testdata: its folder, its test binary, and the command of this checkout.
type module struct{ dir, tests, threelaws string }

var (
	temporary string // a folder of the system's temporary files
	built     = map[string]func() (module, error){
		"keeper":    sync.OnceValues(func() (module, error) { return build("keeper") }),
		"operators": sync.OnceValues(func() (module, error) { return build("operators") }),
	}
	threelaws = sync.OnceValues(func() (string, error) {
		path := filepath.Join(temporary, "threelaws")
		return path, run("..", "go", "build", "-o", path, "./cmd/threelaws")
	})
)

func TestMain(m *testing.M) {
	var err error
	if temporary, err = os.MkdirTemp("", "agent"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(temporary)
	os.Exit(code)
}

// moduleOf returns a copy of a module below testdata. It builds each module once.
func moduleOf(t *testing.T, name string) module {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs are hosted on Linux alone")
	}
	if _, err := os.Stat("../cmd/threelaws"); err != nil {
		t.Skip("the command is not beside the module: ", err)
	}
	m, err := built[name]()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func build(name string) (m module, err error) {
	m = module{dir: filepath.Join(temporary, name), tests: filepath.Join(temporary, name+".test")}
	if m.threelaws, err = threelaws(); err != nil {
		return m, err
	}
	if err := run(".", "cp", "-r", filepath.Join("testdata", name), m.dir); err != nil {
		return m, err
	}
	here, err := os.Getwd()
	if err != nil {
		return m, err
	}
	mod := filepath.Join(m.dir, "go.mod")
	text, err := os.ReadFile(mod)
	if err != nil {
		return m, err
	}
	if err := os.WriteFile(mod, bytes.ReplaceAll(text, []byte("=> ../.."), []byte("=> "+here)), 0o644); err != nil {
		return m, err
	}
	return m, run(m.dir, "go", "test", "-c", "-o", m.tests, ".")
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, text)
	}
	return nil
}

// run runs tests of the module. Variables in env replace those of this process.
func (m module) run(t *testing.T, test string, env ...string) string {
	t.Helper()
	cmd := exec.Command(m.tests, "-test.v", "-test.run="+test)
	cmd.Dir = m.dir
	cmd.Env = append(append(os.Environ(), "CI=", "THREELAWS="+m.threelaws), env...)
	text, _ := cmd.CombinedOutput() // the text says whether it failed
	return string(text)
}

// wants fails the test unless each pattern matches a line of text.
func wants(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(text) {
			t.Errorf("no line matches %s:\n%s", p, text)
		}
	}
}

// A correct operator passes each case. A wrong operator fails in the case and the law that it violates.
func TestTest(t *testing.T) {
	m := moduleOf(t, "keeper")
	text := m.run(t, "TestKeeper|TestWrong/once")
	wants(t, text, `^--- PASS: TestKeeper `, `^    --- PASS: TestKeeper/one-owner `, `Settled was called: true`, `^    --- PASS: TestKeeper/LAW-1-take-ownership `,
		`^    --- SKIP: TestKeeper/LAW-3-dont-share `, `not judged: `,
		`^--- FAIL: TestWrong `, `--- FAIL: TestWrong/once/dependent-deleted `, `VIOLATES exact-sum`,
		`replay: go test -run '\^TestWrong\$/\^once\$' \.`, `--- FAIL: TestWrong/once/NOFIGHT-3-exact-sum `,
		`violated in .*dependent-deleted`)
	kept, err := filepath.Glob(filepath.Join(m.dir, "testdata/threelaws/configmap-dependent-deleted/*.txtar"))
	if err != nil || len(kept) == 0 {
		t.Errorf("no failure is kept: %v", err)
	}
}

// Settled can fail a settled state for its own reason. It can read the objects, but not write.
func TestSettled(t *testing.T) {
	text := moduleOf(t, "keeper").run(t, "TestSettled")
	wants(t, text, `--- FAIL: TestSettled/error/two-owners `, `at most one Secret, not \["settings"`,
		`Settled panicked: no such shard`, `Settled ended its goroutine: `)
}

// An accepted violation does not fail the test. A skipped case prints the reason.
func TestKnown(t *testing.T) {
	m := moduleOf(t, "keeper")
	text := m.run(t, "TestKnown")
	wants(t, text, `^--- PASS: TestKnown `, `--- PASS: TestKnown/dependent-deleted `, `accepted: exact-sum: issue 12`,
		`--- SKIP: TestKnown/faults `, `: it is slow$`, `--accept: no violation of never-fight matched this entry`)
}

// Operators built on client-go and on controller-runtime are hosted unchanged. An operator that cannot start twice in
// one process gets a new process for each life, and the test prints why.
func TestLibraries(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("it builds client-go and controller-runtime with the overlay, for minutes: with SOAK in the environment only")
	}
	m := moduleOf(t, "operators")
	text := m.run(t, ".")
	const alone = "each start of the operator gets a new process: "
	wants(t, text, `^    --- PASS: TestRight/informers `, `^        --- PASS: TestRight/informers/reference-taken-away `,
		`^    --- PASS: TestRight/manager `, `^        --- PASS: TestRight/manager/reference-taken-away `,
		`^    --- PASS: TestRight/unique `, `: `+alone+`it ended by itself: .*controller with name configmap already exists`,
		`--- FAIL: TestWrong/informers/dependent-deleted `, `--- FAIL: TestWrong/manager/dependent-deleted `)
	if n := strings.Count(text, alone); n != 1 {
		t.Errorf("%d of 5 operators have a new process for each life:\n%s", n, text)
	}
}

// "threelaws test" runs go test with the overlay. It passes the flags of go test on, also -tags to the hosted binary.
// The test finds the command that started it.
func TestThreelawsTest(t *testing.T) {
	m := moduleOf(t, "keeper")
	cmd := exec.Command(m.threelaws, "test", "-v", "-tags", "overlaid", "-run", "TestWrong/fatal", ".")
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "CI=", "THREELAWS=")
	text, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	wants(t, string(text), `it must return an error instead of calling t\.Fatal\b`, `^--- FAIL: TestWrong `)
}

// The sample in the documentation is compiled as a test of the module.
func TestPageShowsWhatIsCompiled(t *testing.T) {
	page, err := os.ReadFile("../docs/use/check.md")
	if err != nil {
		t.Skip("the documentation is not beside the module: ", err)
	}
	code, err := os.ReadFile("testdata/keeper/page_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```go\n"+string(code)+"```\n") {
		t.Error("docs/use/check.md does not show testdata/keeper/page_test.go")
	}
}

// Each mistake prints one line that says what to do.
func TestMistakes(t *testing.T) {
	m := moduleOf(t, "keeper")
	stub := func(name, script string) string {
		path := filepath.Join(m.dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return "THREELAWS=" + path
	}
	older := stub("older", "echo 'older: unknown flag --test' >&2; exit 2\n")
	dies := stub("dies", `echo '{"protocol":1}'; echo '{"name":"one-owner","told":"1 schedule"}'; echo 'panic: here' >&2; exit 2`+"\n")
	other := stub("other", `echo '{"protocol":2}'`+"\n")
	for _, x := range []struct{ name, test, env, want string }{
		{"no Run", "TestMistake/no_Run", "", `agent\.Test: the Subject has no Run$`},
		{"no file", "TestMistake/no_file", "", `agent\.Test: Samples: stat testdata/nowhere\.yaml: no such file or directory$`},
		{"no CRDs", "TestMistake/no_CRDs", "", `agent\.Test: CRDs: stat nowhere: no such file or directory$`},
		{"no case", "TestMistake/no_case", "", `--skip: there is no case and no law fault; did you mean faults\?$`},
		{"no sample", "TestMistake/no_sample", "", `: check: there is no sample of a kind that the operator works on: `},
		{"Fatal", "TestWrong/fatal", "", `Run ended its goroutine: it must return an error instead of calling t\.Fatal\b`},
		{"older", "TestKeeper", older, `older is older than this module: go install github\.com/threelaws/threelaws/cmd/threelaws@latest$`},
		{"dies", "TestKeeper", dies, `dies ended before its verdict: exit status 2$`},
		{"other", "TestKeeper", other, `other is not of the version of this module: go install github\.com/\S+$`},
		{"no command", "TestKeeper", "THREELAWS=" + filepath.Join(m.dir, "gone"), `\$THREELAWS: .*gone.*no such file`},
	} {
		x := x
		t.Run(x.name, func(t *testing.T) {
			env := []string{x.env}
			if x.env == "" {
				env = nil
			}
			wants(t, m.run(t, x.test, env...), x.want)
		})
	}
	bare := []string{"THREELAWS=", "PATH=" + t.TempDir()}
	text := m.run(t, "TestKeeper", bare...)
	wants(t, text, `^--- SKIP: TestKeeper `, `there is no threelaws command: go install github\.com/\S+@latest$`)
	text = m.run(t, "TestKeeper", append(bare, "CI=true")...)
	wants(t, text, `^--- FAIL: TestKeeper `, `there is no threelaws command: go install github\.com/\S+@latest$`)
}
