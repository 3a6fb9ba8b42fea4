package cli

import (
	"github.com/spf13/cobra"

	"github.com/threelaws/threelaws/scenarios"
)

// exploring contains the options of an exploration, and flags that package scenarios does not need.
type exploring struct {
	scenarios.ExploreOptions

	checks
	sharding

	faults string
	era    string
	out    string
	memory int           // the maximal memory in MiB
	limit  func() string // returns why the exploration must stop to save memory, or ""; see memoryLimit
}

func (x *exploring) register(a *app, cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVarP(&x.Schedules, "schedules", "n", 1000, "number of schedules to draw")
	fl.Uint64Var(&x.Seed, "seed", 1, "the seed of the choices")
	fl.StringVar(&x.Strategy, "strategy", "mix", "how schedules are chosen: mix, random, pct or exhaustive")
	fl.StringVar(&x.faults, "faults", "",
		"how many faults of each name a run may have: crash:1,relist:2; a name alone means one")
	fl.BoolVar(&x.Strict, "strict", false, "a lost race is a violation too")
	fl.StringSliceVar(&x.Laws, "laws", nil, "the laws that count, by name or clause; by default all")
	fl.BoolVar(&x.First, "first", false, "stop at the first violation")
	fl.StringVar(&x.Mutant, "mutant", "", "run this mutant instead of its controller")
	fl.StringVar(&x.era, "era", "", "run the file's controllers in this era")
	fl.StringVar(&x.era, "generation", "", "")
	_ = fl.MarkDeprecated("generation", "use --era")
	fl.StringVar(&x.out, "out", failuresDir,
		"directory for failures; run ignores directories whose names begin with a dot")
	fl.IntVar(&x.States, "states", 0, "exhaustive: stop after this many states; 0 for no limit")
	fl.IntVar(&x.Early, "early-timers", 0,
		"exhaustive: number of timers in a run that may fire while another action is possible")
	fl.IntVar(&x.Workers, "workers", 0, "number of runs at a time; 0 means one for each core")
	fl.IntVar(&x.Budget, "budget", 2000, "number of runs for minimizing a failure")
	fl.IntVar(&x.memory, "memory", 0, "stop when this many MiB are in use, and report the results so far; 0 for no limit")
	fl.DurationVar(&x.Likely, "likely", 0,
		"time for finding the steps that made each failure more likely, by random continuations")
	x.sharding.flags(cmd)
	x.checks.flags(cmd)
	cmd.ValidArgsFunction = completeFiles(&a.shelf, 0)
	complete(cmd, "out", completeDirs)
	complete(cmd, "strategy", completeWords(strategies...))
	complete(cmd, "faults", completeList(faultWords()))
	complete(cmd, "laws", completeList(a.lawWords()))
	complete(cmd, "mutant", completeWords(a.mutantNames()...))
	complete(cmd, "era", completeWords(a.registry.Eras()...))
}

var strategies = []string{"mix", "random", "pct", "exhaustive"}

func (x *exploring) check() error {
	if err := oneOf("strategy", x.Strategy, strategies...); err != nil {
		return err
	}
	for _, n := range []struct {
		name         string
		value, least int
	}{
		{"schedules", x.Schedules, 1}, {"states", x.States, 0}, {"early-timers", x.Early, 0},
		{"workers", x.Workers, 0}, {"memory", x.memory, 0}, {"budget", x.Budget, 1},
	} {
		if n.value < n.least {
			return usage("--%s=%d: at least %d", n.name, n.value, n.least)
		}
	}
	if x.Likely < 0 {
		return usage("--likely=%s: at least 0s", x.Likely)
	}
	if err := x.sharding.check(); err != nil {
		return err
	}
	if x.First && x.divided() {
		return usage("--first: each shard would stop at its own first violation: leave out --first, --shard or --results")
	}
	x.Shard, x.Results, x.SaveEvery = x.Part, x.results, saveEvery
	x.limit = memoryLimit(x.memory)
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
