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
	Detail: `The steps above this step run many times. It prints the number of schedules, the number of
violations, and the outcomes. The first violation is minimized and printed.
strategy=exhaustive enumerates all schedules up to equivalence, and prints whether it
covered all of them. There, early-timers limits how many timers fire while another action
is possible. The names of faults are crash, stale, conflict, throttle, error, lost, relist,
resync and slow. A name without a number means one fault. With --strict, lost races are
violations too.`,
	Example: "explore schedules=2000\nexplore strategy=exhaustive\nexplore schedules=500 faults=crash:1,relist:1",
	Params: []Param{
		{Name: "schedules", Summary: "the number; 1000 without it"},
		{Name: "strategy", Summary: "how they are drawn", Values: []string{"mix", "random", "pct", "exhaustive"}},
		{Name: "seed", Summary: "of the choices; 1 without it"},
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "states", Summary: "exhaustive: stop after this many states"},
		{Name: "early-timers",
			Summary: "exhaustive: number of timers in a run that may fire while another action is possible; the default is 0"},
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
	Detail: `The mutant runs instead of its controller, first in the default schedule, and then in other
schedules. It prints the violated law and the steps that led to the violation. If the mutant
violates no law, the step fails.`,
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
