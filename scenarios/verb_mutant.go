package scenarios

import "slices"

var verbMutant = &Verb{
	Name: "mutant", Args: "NAME [schedules=N] [seed=N] [faults=NAME:N,...] [laws=LAW,...] [--strict]", Min: 1, Max: 1,
	Summary: "run the file so far with one guard removed: a law must break",
	Detail: `The mutant runs in place of its controller, first in the default schedule, then
in N others (500 without it). Prints the law that kills it and what led there. A mutant that
breaks no law is a failure.`,
	Example: "mutant replicaset/skip-recheck",
	Params: []Param{
		{Name: "schedules", Summary: "how many to try; 500 without it"},
		{Name: "seed", Summary: "of the choices; 1 without it"},
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "laws", Summary: "only these laws count, and nothing that the file expects"},
		{Name: "strict", Summary: "races lost are broken laws", Values: []string{"true", "false"}},
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
