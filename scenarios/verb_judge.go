package scenarios

import "github.com/threelaws/threelaws/sim/law"

var verbJudge = &Verb{
	Name: "judge", Args: "LAW... | all", Min: 1, Max: -1,
	Summary: "from here on, only these laws count",
	Detail: `Laws are named by name or clause. Others are still checked, but neither shown nor
held against the file: controllers from before ControllerRef break most laws of
routing at every event, and a file about their fights need not list them.`,
	Example: "judge never-fight dont-interfere\njudge all",
	judges:  true,
	check: func(c *checker, s *Step) error {
		for _, w := range s.Words() {
			if w == "all" {
				continue
			}
			if _, what := c.registry.law(w); what != "" {
				return s.wrong("%s", what)
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error { return r.judgeBy(s.Words()) },
}

// judgeBy makes only the named laws count from here on; "all" makes all count.
func (r *Run) judgeBy(names []string) error {
	only := map[*law.Law]bool{}
	for _, n := range names {
		if n == "all" {
			r.counting.accept()
			r.counting.narrow(nil)
			return nil
		}
		l, what := r.registry.law(n)
		if what != "" {
			return r.errorf("%s", what)
		}
		only[l] = true
	}
	r.counting.narrow(only)
	return nil
}
