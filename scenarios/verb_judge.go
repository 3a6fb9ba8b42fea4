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
	run: func(r *Run, s *Step) error { return r.JudgeBy(s.Words()...) },
}

// JudgeBy makes only the named laws count from here on; "all" makes all count.
func (r *Run) JudgeBy(names ...string) error {
	only := map[*law.Law]bool{}
	for _, n := range names {
		if n == "all" {
			r.only = nil
			r.accept()
			return nil
		}
		l, what := r.Registry.law(n)
		if what != "" {
			return r.errorf("%s", what)
		}
		only[l] = true
	}
	r.only = only
	return nil
}

// counts reports whether a breach is shown: its law is one that counts.
func (r *Run) counts(b *law.Breach) bool { return r.only == nil || r.only[b.Law] }
