package agent_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mainOfKeeper is the main of an operator whose repository has only this file and a sample.
const mainOfKeeper = `package main

import (
	"context"
	"flag"
	"net/http"
	"time"

	"example.com/keeper"
)

func main() {
	sleep := flag.Duration("sleep", time.Second, "after a failure")
	flag.Parse()
	k := keeper.Keeper{API: "http://apiserver", HTTP: &http.Client{Transport: &http.Transport{}}, Sleep: *sleep}
	_ = k.Run(context.Background())
}
`

// The test that "threelaws init --test" writes compiles and passes. An existing file is not overwritten.
func TestInit(t *testing.T) {
	m := moduleOf(t, "keeper")
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"go.mod": "go.mod", "keeper.go": "keeper.go",
		"testdata/sample.yaml": "config/samples/configmap.yaml"} {
		text, err := os.ReadFile(filepath.Join(m.dir, from))
		if err != nil {
			t.Fatal(err)
		}
		write(to, text)
	}
	write("cmd/keeper/main.go", []byte(mainOfKeeper))
	run := func(name string, args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CI=", "THREELAWS="+m.threelaws)
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(text), cmd.ProcessState.ExitCode()
	}
	text, code := run(m.threelaws, "init", "--test", "--sample", "config/samples/configmap.yaml", "--args", "--sleep=2s")
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	wants(t, text, `^main package \./cmd/keeper, from `, `^wrote threelaws\.yaml$`,
		`^wrote \.github/workflows/threelaws\.yml$`, `^wrote cmd/keeper/ownership_test\.go$`, `^next: go test \./cmd/keeper$`)
	if text, _ := run("gofmt", "-l", "."); text != "" {
		t.Errorf("not formatted: %s", text)
	}
	text, code = run(m.threelaws, "check", "--test", "TestOwnership/configmap.yaml", "--schedules", "1", "--case",
		"one-owner", "--sample", "config/samples/configmap.yaml", "./cmd/keeper")
	if code != 0 {
		t.Errorf("exit %d of the test:\n%s", code, text)
	}

	// The settings in the comments of threelaws.yaml are those that check finds.
	settings, err := os.ReadFile(filepath.Join(dir, "threelaws.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var plain []byte
	for _, line := range bytes.SplitAfter(settings, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("#")); ok && !bytes.HasPrefix(rest, []byte(" ")) ||
			ok && bytes.HasPrefix(rest, []byte("    - ")) {
			line = rest
		}
		plain = append(plain, line...)
	}
	write("threelaws.yaml", plain)
	text, code = run(m.threelaws, "check", "--schedules", "1", "--case", "one-owner")
	if code != 0 {
		t.Errorf("exit %d with %s:\n%s", code, plain, text)
	}
	text, code = run(m.threelaws, "init", "--test")
	if code != 2 {
		t.Errorf("exit %d", code)
	}
	wants(t, text, `^threelaws\.yaml exists already and is left as it is$`, `^cmd/keeper/ownership_test\.go exists already`)
	if after, err := os.ReadFile(filepath.Join(dir, "threelaws.yaml")); err != nil || !bytes.Equal(after, plain) {
		t.Errorf("threelaws.yaml is %s, %v", after, err)
	}
}
