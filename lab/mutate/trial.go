package mutate

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/threelaws/threelaws/lab/mutate/switches"
)

// Each budget limits which checks of one kind are tried on a mutant. A check counts with its processor time without a
// mutation. When the sum exceeds the budget, the remaining checks are not tried.
const (
	worldBudget    = 2 * time.Second
	fileBudget     = 5 * time.Second
	testBudget     = 2 * time.Second
	upstreamBudget = 30 * time.Second // each process once needs most of this time for upstream's controllers
	exploreBudget  = time.Second
	mutantBudget   = time.Second
)

// The package and the test that compare the controllers with upstream's in random worlds.
const (
	upstreamTests = "upstream/hosted"
	sameEnd       = "^TestDrawnWorlds$/^same_end$"
)

type trial struct {
	b      *Build
	o      *Options
	say    func(format string, args ...any)
	suites map[string]*Suite // the checks by package; "" stands for the scenario files
}

func (b *Build) newTrial(o *Options, say func(string, ...any)) *trial {
	return &trial{b: b, o: o, say: say, suites: map[string]*Suite{}}
}

func (t *trial) scenarios() (*Suite, error) {
	path, err := t.b.Command("./lab/mutate/worker")
	if err != nil {
		return nil, err
	}
	args := []string{"scenarios/testdata"}
	if t.o.Quick {
		args = append(args, "quick")
	}
	return &Suite{Root: t.b.root, Path: path, Args: args}, nil
}

func (t *trial) serving(s *Suite) *Suite {
	if s != nil {
		s.Processes, s.Progress = t.o.Processes, t.say
	}
	return s
}

type stage struct {
	suite, kind string
	budget      time.Duration
	slow        bool
}

// try tries the mutants of a package with the checks in the order of docs/inside/mutation.md.
func (t *trial) try(pkg string, fates []*Fate) error {
	for _, s := range []stage{
		{budget: fileBudget},
		{suite: pkg, budget: testBudget},
		{suite: "controllers/randomworlds", budget: worldBudget},
		{suite: "controllers/states", budget: testBudget},
		{suite: "controllers/recorded", budget: testBudget},
		{suite: "controllers", budget: testBudget},
		{suite: upstreamTests, budget: upstreamBudget},
		{kind: "explore", budget: exploreBudget, slow: true},
		{kind: "mutant", budget: mutantBudget, slow: true},
	} {
		before := living(fates)
		if before == 0 || s.slow && t.o.Quick || !matches(cmp.Or(s.suite, "scenarios"), t.o.By) {
			continue
		}
		suite, err := t.suite(s.suite)
		if err != nil {
			return err
		}
		if suite == nil {
			continue
		}
		began := time.Now()
		if err := suite.Run(fates, s.has, s.budget); err != nil {
			return err
		}
		t.say("%-30s %-20s %-8s %4d to %4d, %v", pkg, s.suite, s.kind, before, living(fates),
			time.Since(began).Round(time.Second))
	}
	return nil
}

func (s *stage) has(check string) bool {
	_, kind, _ := strings.Cut(check, " ")
	return s.suite != "" || kind == s.kind
}

func (t *trial) suite(pkg string) (*Suite, error) {
	s, built := t.suites[pkg]
	if built {
		return s, nil
	}
	var err error
	switch {
	case pkg == "":
		s, err = t.scenarios()
	case pkg == upstreamTests:
		if s, err = t.b.Tests(pkg, true, cmp.Or(t.o.Checks, sameEnd)); s != nil {
			s.Env = append(s.Env, switches.CleanEnv+"=1")
		}
	default:
		s, err = t.b.Tests(pkg, !mutated(pkg), t.o.Checks)
	}
	if err != nil {
		return nil, err
	}
	t.suites[pkg] = t.serving(s)
	return s, nil
}

func living(fates []*Fate) int {
	n := 0
	for _, f := range fates {
		if !f.Killed() {
			n++
		}
	}
	return n
}

// worker is a process that tries one mutant after another. If a mutant ends the process, a new one is started.
type worker struct {
	path string
	args []string
	env  []string
	root string

	cmd  *exec.Cmd
	in   io.WriteCloser
	from *os.File // the read end of the pipe for answers; out decodes from it
	out  *json.Decoder
}

// ask tries a mutant. If init is set, a new process starts with the mutation on. If the process dies, the first check
// counts as the killer: the real one is unknown.
func (w *worker) ask(r switches.Request, init bool) (*switches.Answer, error) {
	if w.cmd == nil || init {
		w.stop()
		begin := switches.None
		if init {
			begin = r.Mutation
		}
		if err := w.start(begin); err != nil {
			return nil, err
		}
	}
	if err := json.NewEncoder(w.in).Encode(r); err != nil {
		return w.died(), nil
	}
	var a switches.Answer
	if err := w.out.Decode(&a); err != nil {
		return w.died(), nil
	}
	if a.Ended || init {
		w.stop()
	}
	return &a, nil
}

func (w *worker) start(mutation int) error {
	w.cmd = exec.Command(w.path, w.args...)
	w.cmd.Dir = w.root
	w.cmd.Env = append(append(os.Environ(), w.env...), "GOMAXPROCS=1", switches.Env+"="+strconv.Itoa(mutation))
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, answers, err := os.Pipe()
	if err != nil {
		return err
	}
	defer answers.Close()
	w.cmd.ExtraFiles = []*os.File{answers} // the first file gets the descriptor [switches.AnswersFile]
	w.in, w.from, w.out = in, out, json.NewDecoder(bufio.NewReader(out))
	if err := w.cmd.Start(); err != nil {
		in.Close()
		out.Close()
		w.cmd = nil // there is no process to stop
		return fmt.Errorf("%s: %w", w.path, err)
	}
	return nil
}

func (w *worker) died() *switches.Answer {
	w.stop()
	return &switches.Answer{By: 0, Why: "the process dies"}
}

func (w *worker) stop() {
	if w.cmd == nil {
		return
	}
	w.in.Close()
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
	w.from.Close()
	w.cmd = nil
}

// mainOfTests is compiled into the tests of a package and makes them serve as checks. If a package has its own
// TestMain, its tests cannot be checks.
const mainOfTests = `package %s

import (
	"os"
	"testing"

	%q
)

func TestMain(m *testing.M) { os.Exit(switches.Tests(m)) }
`

const mainFile = "mutated_main_test.go"

// Tests returns the tests of a package as checks, or nil if there are none. If deep is set, a check is a test or
// subtest without subtests, and pattern selects checks, like -run.
func (b *Build) Tests(pkg string, deep bool, pattern string) (*Suite, error) {
	files, err := filepath.Glob(filepath.Join(b.root, pkg, "*_test.go"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	path, err := b.test(pkg, files[0])
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.root, pkg)
	args := []string{"-test.list", "^Test"}
	if deep {
		args = []string{"-test.short", "-test.v", "-test.run", pattern}
	}
	c := exec.Command(path, args...)
	c.Dir, c.Env = dir, append(os.Environ(), few)
	out, err := c.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s fails without a mutation: %w\n%s", pkg, err, out)
	}
	names := testsOf(string(out))
	if len(names) == 0 {
		return nil, nil
	}
	checks := path + ".checks"
	if err := os.WriteFile(checks, []byte(strings.Join(names, "\n")), 0o644); err != nil {
		return nil, err
	}
	return &Suite{Name: pkg + " test ", Root: dir, Path: path, Args: []string{"-test.short"},
		Env: []string{few, switches.ChecksEnv + "=" + checks}}, nil
}

// few is an environment variable that makes tests replay recorded cases under fewer schedules.
const few = "SCHEDULES=2"

// testsOf returns the names in the output of a test run. It leaves out tests and subtests that have subtests.
func testsOf(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		name, ran := strings.CutPrefix(strings.TrimSpace(line), "=== RUN   ")
		if !ran && !strings.HasPrefix(name, "Test") {
			continue
		}
		for parent := name; ; {
			i := strings.LastIndexByte(parent, '/')
			if i < 0 {
				break
			}
			parent = parent[:i]
			for j, n := range names {
				if n == parent {
					names = append(names[:j], names[j+1:]...)
					break
				}
			}
		}
		names = append(names, name)
	}
	return names
}
