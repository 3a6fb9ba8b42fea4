package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
)

// exploring is an exploration with the flags that scenarios do not know.
type exploring struct {
	scenarios.ExploreOptions

	faults     string
	generation string
	out        string
}

func (a *app) exploreCommand() *cobra.Command {
	x := &exploring{}
	cmd := &cobra.Command{
		Use:   "explore [flags] FILE",
		Short: "run a file's world under other schedules",
		Long: `Runs the steps of the file above its first explore or mutant again and again,
each time in another schedule, and prints what they came to. What the user does
races with the controllers. What the last settle is expected to break, by a "!",
is looked for as well.

A broken law is made small; "minimal" says that no single object, user action,
fault or choice can be left out of it. That run is shown, and written as a
scenario file which "threelaws replay" runs exactly. A fight, a state that comes
again with writes in between, is shown as its cycle. Runs end at the first broken
law; where they all did, the world is explored once more for a fight alone.

Time may pass while something else could happen: a retry after milliseconds often
comes before an event under way, an expiry after minutes seldom does. exhaustive
enumerates every schedule up to equivalence and says whether it covered
everything; in it, as many timers of a run are early as --early-timers says. An
interrupt ends the exploration with what it has found.`,
		Example: `  threelaws explore -n 2000 FILE
  threelaws explore --generation selector FILE
  threelaws explore --strategy exhaustive FILE
  threelaws explore --faults crash:1,relist:1 --strict FILE`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.check(); err != nil {
				return err
			}
			if _, err := a.lawsNamed(x.Laws); err != nil {
				return err
			}
			f, err := a.load(args[0])
			if err != nil {
				return err
			}
			return a.explore(cmd.Context(), f, x)
		},
	}
	fl := cmd.Flags()
	fl.IntVarP(&x.Schedules, "schedules", "n", 1000, "how many schedules are drawn")
	fl.Uint64Var(&x.Seed, "seed", 1, "of the choices")
	fl.StringVar(&x.Strategy, "strategy", "mix", "how they are drawn: mix, random, pct or exhaustive")
	fl.StringVar(&x.faults, "faults", "", "how many faults of each name a run may have: crash:1,relist:2; a name alone means one")
	fl.BoolVar(&x.Strict, "strict", false, "races that were lost are broken laws")
	fl.StringSliceVar(&x.Laws, "laws", nil, "the laws that count, by name or clause; all without it")
	fl.BoolVar(&x.First, "first", false, "stop at the first broken law")
	fl.StringVar(&x.Mutant, "mutant", "", "run this mutant instead of its controller")
	fl.StringVar(&x.generation, "generation", "", "run the file's controllers in this generation")
	fl.StringVar(&x.out, "out", failuresDir, "where failures are written; run leaves out directories whose names begin with a dot")
	fl.IntVar(&x.States, "states", 0, "exhaustive: stop after so many states; 0 for no limit")
	fl.IntVar(&x.Early, "early-timers", 0, "exhaustive: how many timers of a run may fire while something else could happen")
	fl.IntVar(&x.Workers, "workers", 0, "how many runs at a time; 0 for one for each core")
	fl.IntVar(&x.Budget, "budget", 2000, "how many runs making a failure small may take")
	return cmd
}

// check looks at the flags' values.
func (x *exploring) check() error {
	if err := oneOf("strategy", x.Strategy, "mix", "random", "pct", "exhaustive"); err != nil {
		return err
	}
	for _, n := range []struct {
		name         string
		value, least int
	}{{"schedules", x.Schedules, 1}, {"states", x.States, 0}, {"early-timers", x.Early, 0}, {"workers", x.Workers, 0}, {"budget", x.Budget, 1}} {
		if n.value < n.least {
			return usage("--%s=%d: at least %d", n.name, n.value, n.least)
		}
	}
	if x.States > 0 && x.Strategy != "exhaustive" {
		return usage("--states=%d bounds --strategy exhaustive only; drawn schedules are bounded by -n", x.States)
	}
	if x.faults != "" {
		var what string
		if x.Faults, what = scenarios.ParseFaults(x.faults); what != "" {
			return usage("--faults: %s", what)
		}
	}
	return nil
}

// explore explores a file, writes what failed, and reports.
func (a *app) explore(ctx context.Context, f *scenarios.File, x *exploring) error {
	if err := a.regenerate(f, x.generation); err != nil {
		return err
	}
	unexpectLast(f)
	began := time.Now()
	line := a.progress(x, began)
	found, err := scenarios.Explore(ctx, f, -1, a.registry, x.ExploreOptions)
	if err == nil && len(x.Laws) == 0 && ctx.Err() == nil {
		err = a.findFight(ctx, f, x, found)
	}
	line.end()
	if err != nil {
		return explorationError(f, err)
	}
	rep := x.summarize(f, found, ctx.Err() != nil, time.Since(began))
	for _, failing := range found.Failures {
		path, err := x.write(f, failing)
		if err != nil {
			return err
		}
		failing.Page.Replay = a.name + " replay " + path
		failing.Page.Draw(a.name + " show --as dot " + path)
		rep.Failures = append(rep.Failures, failureJSON{failing, path})
	}
	a.code = rep.ExitCode
	if a.json {
		return a.encode(rep)
	}
	a.print(rep.text(a.width()))
	return nil
}

// fightLaw is the law that a fight breaks.
const fightLaw = "NOFIGHT-1"

// findFight looks for a fight behind laws that are broken earlier, as nearly
// all are by controllers from before ControllerRef.
func (a *app) findFight(ctx context.Context, f *scenarios.File, x *exploring, found *scenarios.Exploration) error {
	if len(found.Failures) == 0 || slices.ContainsFunc(found.Failures, fights) {
		return nil
	}
	o := x.ExploreOptions
	o.Laws, o.First, o.Strategy, o.Schedules = []string{fightLaw}, true, "mix", min(o.Schedules, 100)
	o.Progress, o.Covered = nil, nil
	more, err := scenarios.Explore(ctx, f, -1, a.registry, o)
	if err != nil {
		return err
	}
	for _, failing := range more.Failures {
		if fights(failing) {
			found.Failures = append(found.Failures, failing)
		}
	}
	return nil
}

func fights(f *scenarios.Counterexample) bool { return len(f.Page.Breach.Cycle) > 0 }

// explorationError is the error of an exploration that came to nothing: a
// mistake in the file, or two runs of one schedule that differ.
func explorationError(f *scenarios.File, err error) error {
	var e *scenarios.Error
	if errors.As(err, &e) {
		return e
	}
	return &scenarios.Error{File: f.Name, Text: err.Error(), Code: scenarios.ExitNondetermine}
}

// unexpectLast takes the "!" off the settle that the explored script ends with:
// nothing comes after it, so what breaks there is what the exploration is for.
func unexpectLast(f *scenarios.File) {
	var last *scenarios.Step
	for _, s := range f.Steps {
		if scenarios.FindVerb(s.Verb).Explores() {
			break
		}
		if s.Verb == "settle" {
			last = s
		}
	}
	if last != nil {
		last.Expect = false
	}
}

// regenerate lets the file's controllers run in another generation: those that
// have it, one at least.
func (a *app) regenerate(f *scenarios.File, generation string) error {
	if generation == "" {
		return nil
	}
	if all := a.registry.Generations(); !slices.Contains(all, generation) {
		return usage("--generation: unknown generation %s%s", generation, suggest(generation, all))
	}
	has := map[string]bool{}
	for _, c := range a.registry.Controllers {
		has[c.Name+"@"+c.Generation] = true
	}
	changed := false
	for _, s := range f.Steps {
		if s.Verb != "controllers" {
			continue
		}
		for i := range s.Args {
			name, _, _ := strings.Cut(s.Args[i].Text, "@")
			if alias, ok := a.registry.Aliases[name]; ok {
				name = alias
			}
			if has[name+"@"+generation] {
				s.Args[i] = scenarios.Arg{Text: name + "@" + generation, Value: name + "@" + generation}
				changed = true
			}
		}
	}
	if !changed {
		return &scenarios.Error{File: f.Name, Text: "no controller of this file has a generation " + generation, Code: scenarios.ExitUsage}
	}
	return nil
}
