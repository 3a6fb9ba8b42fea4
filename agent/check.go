package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// protocol is the version of the JSON lines that the command "threelaws check" prints.
const protocol = 1

const (
	command = "github.com/threelaws/threelaws/cmd/threelaws"
	install = "go install " + command + "@latest"
	oldest  = 25 // the minor version of the oldest supported Go
)

// find returns the path of the command threelaws. The error says, in one line, why the test cannot run.
func find() (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("agent.Test hosts programs on Linux only, not on " + runtime.GOOS)
	}
	if minor, _, _ := strings.Cut(strings.TrimPrefix(runtime.Version(), "go1."), "."); minor != "" {
		if n, err := strconv.Atoi(minor); err == nil && n < oldest {
			return "", errors.New("agent.Test needs Go 1.25 or newer, not " + runtime.Version() + ": set GOTOOLCHAIN=go1.26.8")
		}
	}
	if path := os.Getenv("THREELAWS"); path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", errors.New("$THREELAWS: " + err.Error())
		}
		return found, nil
	}
	if path, err := exec.LookPath("threelaws"); err == nil {
		return path, nil
	}
	if path, err := exec.Command("go", "tool", "-n", "threelaws").Output(); err == nil {
		return strings.TrimSpace(string(path)), nil
	}
	return "", errors.New("there is no threelaws command: " + install)
}

type line struct {
	Protocol                          int
	Note, Name, Failed, Skipped, Told string
}

// farewell is how long before the test's deadline the test interrupts the command threelaws.
const farewell = 10 * time.Second

// check runs the command. For each case and each law in the command's output, it runs a subtest.
func check(t *testing.T, binary string, args []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if deadline, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-farewell))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = farewell / 2
	cmd.Env = append(os.Environ(), flags()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("agent.Test: %v", err)
	}
	told, known := 0, false
	lines := bufio.NewReader(out)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil || !known && l.Protocol != protocol {
			_ = cmd.Process.Kill() // an error means that the command has already ended
			_ = cmd.Wait()         // the command has another version, so its exit code is ignored
			t.Fatalf("%s is not of the version of this module: %s", binary, install)
		}
		known = true
		switch {
		case l.Note != "":
			t.Log(l.Note)
		case l.Name != "":
			told++
			t.Run(l.Name, l.tell)
		}
	}
	err = cmd.Wait()
	said := strings.TrimSpace(stderr.String())
	switch {
	case ctx.Err() != nil:
		t.Errorf("the deadline of the tests came first: shorten Subject.Time, or set go test -timeout")
	case !known && strings.Contains(said, "unknown flag"):
		t.Errorf("%s is older than this module: %s", binary, install)
	case told == 0 && said != "":
		t.Error(said)
	case told == 0:
		t.Errorf("%s tested nothing: %v", binary, err)
	case !verdict(cmd.ProcessState.ExitCode()):
		t.Errorf("%s ended before its verdict: %v\n%s", binary, err, said)
	}
}

// verdict reports whether an exit code is a result. A command that was killed or has panicked has no result.
func verdict(code int) bool { return code == 0 || code == 1 || 3 <= code && code <= 5 }

func (l *line) tell(t *testing.T) {
	t.Helper()
	switch {
	case l.Failed != "":
		t.Error("\n" + strings.TrimRight(l.Failed, "\n"))
	case l.Skipped != "":
		t.Skip(l.Skipped)
	case l.Told != "":
		t.Log(l.Told)
	}
}

// flags returns GOFLAGS with this test's build tags, for the build by threelaws. Without tags it returns nil.
func flags() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && s.Value != "" {
			return []string{"GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" -tags="+s.Value)}
		}
	}
	return nil
}
