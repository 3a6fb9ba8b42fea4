package scenarios

import (
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

var verbLaws = &Verb{
	Name: "laws", Args: "[LAW...] [since=start|switch|settle]", Max: -1,
	Summary: "print which laws held",
	Detail: `Prints a line for each named law, also if the run never exercised the law. LAW is the name
or the clause of a law. Without names, it prints only the violated laws. since=switch
ignores everything before the last change of an era. since=settle ignores everything before
the last settle.`,
	Example: "laws since=switch take-ownership dont-interfere",
	Params:  []Param{{Name: "since", Summary: "where it begins", Values: []string{"start", "switch", "settle"}}},
	check: func(c *checker, s *Step) error {
		for _, w := range s.Words() {
			if _, what := c.registry.law(w); what != "" {
				return s.wrong("%s", what)
			}
		}
		return nil
	},
	run: func(r *Run, s *Step) error {
		since, _ := s.Param("since")
		return r.laws(since, s.Words())
	},
}

// laws prints the results of the named laws since the start, the last "switch", or the last "settle". If names is
// empty, it prints the violated laws.
func (r *Run) laws(since string, names []string) error {
	from := 0
	switch since {
	case "switch":
		from = r.switched
	case "settle":
		from = r.telling.from
	}
	broken := map[*law.Law]int{}
	for i := range r.t.Judge.Violations() {
		if b := &r.t.Judge.Violations()[i]; b.Record >= from && r.counting.fails(b) {
			broken[b.Law]++
		}
	}
	laws := r.registry.Laws
	if len(names) > 0 {
		laws = nil
		for _, n := range names {
			l, what := r.registry.law(n)
			if what != "" {
				return r.errorf("%s", what)
			}
			laws = append(laws, l)
		}
	}
	var t render.Table
	for _, l := range laws {
		if n := broken[l]; n > 0 {
			t.Add(l.Name, "violated "+plural(n, "time"))
		} else if len(names) > 0 {
			t.Add(l.Name, r.held(l))
		}
	}
	r.printf("%s", t.String())
	// The number of laws is not printed, because each new law would change all files.
	switch {
	case len(names) > 0:
	case len(broken) == 0:
		r.printf("all laws held\n")
	default:
		r.printf("the others held\n")
	}
	return nil
}

// held describes the result for a law that was not violated: whether it was evaluated, and if not, why.
func (r *Run) held(l *law.Law) string {
	for _, v := range r.t.Judge.Verdicts() {
		switch {
		case v.Law != l:
		case v.Why != "":
			return "not judged: " + v.Why
		case v.Exercised == 0:
			return "never came up"
		}
	}
	return "ok"
}

var verbJudge = &Verb{
	Name: "judge", Args: "LAW... | all", Min: 1, Max: -1,
	Summary: "from here on, only these laws count",
	Detail: `LAW is the name or the clause of a law. Other laws are still checked, but not printed and
not counted. For example, controllers from before ControllerRef violate most laws of routing
at every event. With this step, a file about their fights does not list these violations.`,
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

// judgeBy sets the laws that count from now on. "all" stands for all laws.
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
