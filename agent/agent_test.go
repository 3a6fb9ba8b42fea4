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

// module is a copy of the module below testdata with its test binary, and the command of this checkout.
type module struct{ dir, tests, threelaws string }

var (
	once  sync.Once
	built module
	why   string // it is not built
)

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir) // a folder of the system's temporary files
	}
	os.Exit(code)
}

func build(t *testing.T) module {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs are hosted on Linux alone")
	}
	if _, err := os.Stat("../cmd/threelaws"); err != nil {
		t.Skip("the command is not beside the module: ", err)
	}
	once.Do(func() {
		dir, err := os.MkdirTemp("", "agent")
		if err != nil {
			why = err.Error()
			return
		}
		built = module{dir, filepath.Join(dir, "keeper.test"), filepath.Join(dir, "threelaws")}
		here, err := os.Getwd()
		if err != nil {
			why = err.Error()
			return
		}
		for _, name := range []string{"go.mod", "keeper.go", "keeper_test.go", "page_test.go", "overlaid_test.go", "testdata/sample.yaml"} {
			text, err := os.ReadFile(filepath.Join("testdata/keeper", name))
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
			}
			if err == nil {
				text = bytes.ReplaceAll(text, []byte("=> ../.."), []byte("=> "+here))
				err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
			}
			if err != nil {
				why = err.Error()
				return
			}
		}
		for _, line := range []struct{ in, args string }{
			{"..", "build -o " + built.threelaws + " ./cmd/threelaws"}, {dir, "test -c -o " + built.tests + " ."},
		} {
			cmd := exec.Command("go", strings.Fields(line.args)...)
			cmd.Dir = line.in
			if text, err := cmd.CombinedOutput(); err != nil {
				why = fmt.Sprintf("%v: %v\n%s", cmd, err, text)
				return
			}
		}
	})
	if why != "" {
		t.Fatal(why)
	}
	return built
}

// run runs tests of the module. The environment comes before the rest of this process.
func (m module) run(t *testing.T, test string, env ...string) string {
	t.Helper()
	cmd := exec.Command(m.tests, "-test.v", "-test.run="+test)
	cmd.Dir = m.dir
	cmd.Env = append(append(os.Environ(), "CI=", "THREELAWS="+m.threelaws), env...)
	text, _ := cmd.CombinedOutput() // the text says whether it failed
	return string(text)
}

// wants fails the test unless each pattern matches a line of the text.
func wants(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(text) {
			t.Errorf("no line matches %s:\n%s", p, text)
		}
	}
}

// A right operator passes each case. A wrong one fails in the case and the law that it violates. Both are parallel.
func TestTest(t *testing.T) {
	m := build(t)
	text := m.run(t, "TestKeeper|TestWrong/once")
	wants(t, text, `^--- PASS: TestKeeper `, `^    --- PASS: TestKeeper/one-owner `, `^    --- PASS: TestKeeper/LAW-1-take-ownership `,
		`^    --- SKIP: TestKeeper/LAW-3-dont-share `, `not judged: `,
		`^--- FAIL: TestWrong `, `--- FAIL: TestWrong/once/dependent-deleted `, `VIOLATES exact-sum`,
		`replay: go test -run '\^TestWrong\$/\^once\$' \.`, `--- FAIL: TestWrong/once/NOFIGHT-3-exact-sum `,
		`violated in .*dependent-deleted`)
	kept, err := filepath.Glob(filepath.Join(m.dir, "testdata/threelaws/configmap-dependent-deleted/*.txtar"))
	if err != nil || len(kept) == 0 {
		t.Errorf("no failure is kept: %v", err)
	}
}

// "threelaws test" is go test with the overlay. Its flags pass through, tags to the hosted binary as well, and the test
// finds the command.
func TestThreelawsTest(t *testing.T) {
	m := build(t)
	cmd := exec.Command(m.threelaws, "test", "-v", "-tags", "overlaid", "-run", "TestWrong/fatal", ".")
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "CI=", "THREELAWS=")
	text, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	wants(t, string(text), `it must return an error in place of t\.Fatal$`, `^--- FAIL: TestWrong `)
}

// The sample of the documentation is compiled with the tests of the module.
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

// Every mistake gives one line that says what to do.
func TestMistakes(t *testing.T) {
	m := build(t)
	stub := func(name, script string) string {
		path := filepath.Join(m.dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return "THREELAWS=" + path
	}
	older := stub("older", "echo 'older: unknown flag --test' >&2; exit 2\n")
	other := stub("other", `echo '{"protocol":2}'`+"\n")
	for _, x := range []struct{ name, test, env, want string }{
		{"no Run", "TestMistake/no_Run", "", `agent\.Test: the Subject has no Run$`},
		{"no file", "TestMistake/no_file", "", `agent\.Test: Samples: stat testdata/nowhere\.yaml: no such file or directory$`},
		{"no sample", "TestMistake/no_sample", "", `: check: there is no sample of a kind that the operator works on: `},
		{"Fatal", "TestWrong/fatal", "", `Run ended its goroutine: it must return an error in place of t\.Fatal$`},
		{"older", "TestKeeper", older, `older is older than this module: go install github\.com/threelaws/threelaws/cmd/threelaws@latest$`},
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
