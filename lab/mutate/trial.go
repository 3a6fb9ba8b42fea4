package mutate

import (
	"cmp"
	"strings"
	"time"

	"github.com/threelaws/threelaws/lab/mutate/switches"
)

// Budgets of processor time that a survivor is given, of each sort of check, as the
// checks take without a mutation.
const (
	worldBudget    = 2 * time.Second
	fileBudget     = 5 * time.Second
	testBudget     = 2 * time.Second
	upstreamBudget = 30 * time.Second // most of it is spent by upstream's controllers, once in a process
	exploreBudget  = time.Second
	mutantBudget   = time.Second
)

// The test that compares the controllers with upstream's, in drawn worlds, and its package.
const (
	upstreamTests = "upstream/hosted"
	sameEnd       = "^TestDrawnWorlds$/^same_end$"
)

// trial is what mutants are tried by: suites that are built once.
type trial struct {
	b      *Build
	o      *Options
	say    func(format string, args ...any)
	suites map[string]*Suite // by package; "" has the scenarios
}

func (b *Build) newTrial(o *Options, say func(string, ...any)) *trial {
	return &trial{b: b, o: o, say: say, suites: map[string]*Suite{}}
}

// scenarios are the scenario files as checks.
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

// stage is one sort of checks.
type stage struct {
	suite, kind string
	budget      time.Duration
	slow        bool
}

// try tries the mutants of a package: the default schedules of the scenario files, the tests of the package, the laws
// in generated worlds, the states, the recorded cases, the tests of package controllers, and the comparison with
// upstream's controllers. On those that survive it tries a few other schedules, and whether the mutants made by hand
// still die.
func (t *trial) try(pkg string, fates []*Fate) error {
	for _, s := range []stage{
		{budget: fileBudget},
		{suite: pkg, budget: testBudget},
		{suite: "controllers/generated", budget: worldBudget},
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

// has reports whether a check is one of a stage.
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
