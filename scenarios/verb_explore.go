package scenarios

import (
	"context"
	"slices"
)

var verbExplore = &Verb{
	Name: "explore", Max: 0,
	Args: "[schedules=N] [strategy=mix|random|pct|exhaustive] [seed=N] [faults=NAME:N,...] [states=N] " +
		"[early-timers=N] [laws=LAW,...] [--strict]",
	Summary: "run the file so far under other schedules",
	Detail: `The steps above it run many times; see "running a file again". It prints the number of
schedules, how many violated a law, and their outcomes. The first violation is minimized
and shown. strategy=exhaustive enumerates all schedules up to equivalence, and says whether it
covered everything. In it, early-timers timers may fire while something else could happen.
faults are crash, stale, conflict, throttle, error, lost, relist, resync and slow; a name
without a number means one. --strict counts lost races as violations.`,
	Example: "explore schedules=2000\nexplore strategy=exhaustive\nexplore schedules=500 faults=crash:1,relist:1",
	Params: []Param{
		{Name: "schedules", Summary: "the number; 1000 without it"},
		{Name: "strategy", Summary: "how they are drawn", Values: []string{"mix", "random", "pct", "exhaustive"}},
		{Name: "seed", Summary: "of the choices; 1 without it"},
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "states", Summary: "exhaustive: stop after this many states"},
		{Name: "early-timers",
			Summary: "exhaustive: how many timers of a run may fire while something else could happen; 0 without it"},
		{Name: "laws", Summary: "only these laws count"},
		{Name: "strict", Summary: "lost races are violations", Values: []string{"true", "false"}},
	},
	explores: true,
	check: func(c *checker, s *Step) error {
		o, err := s.ExploreOptions()
		if err != nil {
			return err
		}
		for _, l := range o.Laws {
			if _, what := c.registry.law(l); what != "" {
				return s.wrong("%s", what)
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		o, err := s.ExploreOptions()
		if err != nil {
			return err
		}
		o.Strict = o.Strict || r.counting.strict
		x, err := Explore(context.Background(), r.file, slices.Index(r.file.Steps, s), r.registry, o)
		if err != nil {
			return s.fail(ExitNondetermine, "%v", err)
		}
		r.printf("%s", x.Text())
		if len(x.Failures) > 0 {
			f := x.Failures[0]
			r.failed.found = f.Page
			return s.fail(ExitFail, "%s is violated in schedule %d: %s", f.Law, f.Index, f.Text)
		}
		if x.Unsettled > 0 {
			return s.fail(ExitNotSettled, "%s did not settle", plural(x.Unsettled, "schedule"))
		}
		return nil
	},
}

var verbMutant = &Verb{
	Name: "mutant", Args: "NAME [schedules=N] [seed=N] [faults=NAME:N,...] [laws=LAW,...] [--strict]", Min: 1, Max: 1,
	Summary: "run the file so far with one guard removed: a law must be violated",
	Detail: `The mutant runs in place of its controller, first in the default schedule, then in N
others (500 without it). Prints the law that kills it, and the steps that led there. It is
a failure if the mutant violates no law.`,
	Example: "mutant replicaset/skip-recheck",
	Params: []Param{
		{Name: "schedules", Summary: "the number; 500 without it"},
		{Name: "seed", Summary: "of the choices; 1 without it"},
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "laws", Summary: "only these laws count, and no expectation of the file"},
		{Name: "strict", Summary: "lost races are violations", Values: []string{"true", "false"}},
	},
	explores: true,
	check: func(c *checker, s *Step) error {
		if _, what := c.registry.mutant(s.Word(0)); what != "" {
			return s.wrong("%s", what)
		}
		_, err := s.ExploreOptions()
		return err
	},
	run: func(r *Run, s *Step) error {
		o, err := s.ExploreOptions()
		if err != nil {
			return err
		}
		k, err := Kill(r.file, slices.Index(r.file.Steps, s), r.registry, s.Word(0), o)
		if err != nil {
			return err
		}
		r.printf("%s", k.Text())
		if k.Law == "" {
			return s.fail(ExitFail, "the mutant survived %s", plural(k.Tried, "schedule"))
		}
		return nil
	},
}
