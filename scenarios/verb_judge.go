package scenarios

import (
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

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
			r.accept()
			r.judgeBy(nil)
			return nil
		}
		l, what := r.Registry.law(n)
		if what != "" {
			return r.errorf("%s", what)
		}
		only[l] = true
	}
	r.judgeBy(only)
	return nil
}

// judging is which laws count from a breach on.
type judging struct {
	from int               // index of the breach
	only map[*law.Law]bool // nil for all
}

func (r *Run) judgeBy(only map[*law.Law]bool) {
	r.only = only
	r.judged = append(r.judged, judging{len(r.t.Judge.Breaches()), only})
}

// Breaches are the breaches of the laws that counted when they were broken, fit
// to be shown.
func (r *Run) Breaches() []render.Mark {
	var all []render.Mark
	var only map[*law.Law]bool
	turn := 0
	for i, b := range r.t.Judge.Breaches() {
		for ; turn < len(r.judged) && r.judged[turn].from <= i; turn++ {
			only = r.judged[turn].only
		}
		if only == nil || only[b.Law] {
			all = append(all, render.MarkOf(b))
		}
	}
	return all
}

// counts reports whether a breach is shown: its law is one that counts.
func (r *Run) counts(b *law.Breach) bool { return r.only == nil || r.only[b.Law] }
