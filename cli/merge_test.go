package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// TestMain lets a test start this binary as the command threelaws, for example one process for each shard.
func TestMain(m *testing.M) {
	if os.Getenv("THREELAWS_AS_COMMAND") != "" {
		if every, err := time.ParseDuration(os.Getenv("THREELAWS_SAVE_EVERY")); err == nil {
			saveEvery = every
		}
		Command{Registry: builtin.Registry(), Library: scenarios.Library(), Name: "threelaws"}.Main()
	}
	os.Exit(m.Run())
}

// process returns the command threelaws as a separate process.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "THREELAWS_AS_COMMAND=1", "CI=", "GITHUB_ACTIONS=")
	return c
}

// linesIn counts the lines of the only file in a folder.
func linesIn(dir string) int {
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) == 0 {
		return 0
	}
	text, _ := os.ReadFile(files[0])
	return bytes.Count(text, []byte("\n"))
}

// A shard that was killed continues from its file. It ends with the same results, and tries no schedule twice.
func TestKilledShardContinues(t *testing.T) {
	work(t)
	for _, flags := range []string{
		"-n 300 --faults crash:1,relist:1 testdata/settles.txtar",
		"--strategy exhaustive orphan/late-dependent-exhaustively",
	} {
		args := strings.Fields("explore --out out " + flags + " --results")
		if got := cli(t, append(args, "whole")...); got.code > scenarios.ExitFail {
			t.Fatal(got.err)
		}
		for kill := range 5 {
			cmd := process(t, append(args, "killed")...)
			cmd.Env = append(cmd.Env, "THREELAWS_SAVE_EVERY=10ms")
			before := linesIn("killed")
			must(t, cmd.Start())
			ended := make(chan struct{})
			go func() {
				for kill < 4 && linesIn("killed") < before+3 {
					select {
					case <-ended:
						return
					case <-time.After(time.Millisecond):
					}
				}
				if kill < 4 {
					_ = cmd.Process.Kill()
				}
			}()
			err := cmd.Wait()
			close(ended)
			if err == nil {
				break
			}
		}
		whole, killed := typed(t, "merge --out out -o w.jsonl whole"), typed(t, "merge --out out -o k.jsonl killed")
		if whole != killed {
			t.Errorf("%s: whole:\n%s\nkilled:\n%s%s", flags, whole.out, killed.out, killed.err)
		}
		os.RemoveAll("whole")
		os.RemoveAll("killed")
	}
}

// Each mistake in shards and results is reported in one line. The name of a folder is not a pattern.
func TestBadShards(t *testing.T) {
	work(t)
	explore := "explore -n 20 --out out testdata/settles.txtar "
	if got := typed(t, explore+"--results r[1] --shard 0/2"); got.code != 0 {
		t.Fatal(got.err)
	}
	if got := typed(t, "merge r[1]"); got.code != exitUncovered || !strings.Contains(got.out, "not drawn: schedules 10 to 19\n") {
		t.Errorf("half: exit %d, %s", got.code, got.out)
	}
	must(t, os.WriteFile("file", nil, 0o644))
	for args, want := range map[string]string{
		explore + "--shard 2/2":                          "--shard: 2/2: shards count from 0, so the last one is 1/2",
		"check --shard 9/3":                              "--shard: 9/3: shards count from 0",
		explore + "--results r[1] --shard 0/2 --seed 2":  "with other settings: strategy=mix seed=1",
		explore + "--results out --first":                "--first: each shard would stop at its own first violation",
		"merge -o r[1]/all.jsonl r[1]":                   "write it to another folder than r[1]",
		explore + "testdata/fights.txtar --results file": "--results: mkdir file: not a directory",
		"merge":                        "merge takes result files, or folders of them",
		"merge nothing":                "nothing",
		"merge out":                    "no results: no file is named *.jsonl",
		"merge testdata/settles.txtar": "testdata/settles.txtar:1: this is not a result of threelaws",
	} {
		os.MkdirAll("out", 0o755)
		got := typed(t, args)
		if got.code != scenarios.ExitUsage || !strings.Contains(got.err, want) || strings.Count(got.err, "\n") != 1 {
			t.Errorf("%s: exit %d, %s; want %s", args, got.code, got.err, want)
		}
	}
}

// After an interrupt, or at a limit of memory, explore prints its results so far and does not crash.
func TestPartialResults(t *testing.T) {
	work(t)
	for _, flags := range []string{"-n 1000000 ", "--strategy exhaustive --faults crash:2,relist:2 "} {
		for _, how := range []string{"memory", "interrupt"} {
			os.RemoveAll("r")
			args := strings.Fields("explore --out out --results r " + flags + "testdata/settles.txtar")
			if how == "memory" {
				args = append(args, "--memory", "8")
			}
			c := process(t, args...)
			c.Env = append(c.Env, "GOGC=20")
			must(t, c.Start())
			if how == "interrupt" {
				time.AfterFunc(3*time.Second, func() { _ = c.Process.Signal(os.Interrupt) })
			}
			_ = c.Wait()
			if code := c.ProcessState.ExitCode(); code != exitUncovered && code != exitInterrupted {
				t.Errorf("%s%s: %v", flags, how, c.ProcessState)
			}
			if got := typed(t, "merge r"); got.code != exitUncovered || got.err != "" || strings.HasPrefix(got.out, "0 ") {
				t.Errorf("%s%s: exit %d, %s%s", flags, how, got.code, got.out, got.err)
			}
		}
	}
}
