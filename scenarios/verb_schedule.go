package scenarios

import (
	"github.com/threelaws/threelaws/internal/explore"
)

var verbSchedule = &Verb{
	Name: "schedule", Args: "SECTION [faults=NAME:N,...] [mutant=NAME] [--strict]", Min: 1, Max: 1,
	Summary: "run what follows in a recorded schedule",
	Detail: `The section's first line is "` + scheduleVersion + `", every other one a decision: an
action's key, "leave", or "pick NUMBER WHAT-FOR". It decides the settles that are
not quiet; what the user does after the first settle races with the controllers,
as in explored runs. A decision that cannot be taken is an error. This verb
comes first in its file.`,
	Example: "schedule failure",
	Params: []Param{
		{Name: "faults", Summary: "how many faults of each name there may be"},
		{Name: "mutant", Summary: "what runs instead of its controller"},
		{Name: "strict", Summary: "races lost are broken laws", Values: []string{"true", "false"}},
	},
	check: func(c *checker, s *Step) error {
		sec, err := c.section(s, s.Word(0))
		if err != nil {
			return err
		}
		if c.file.Steps[0] != s {
			return s.wrong("a schedule holds for the whole file: put it first")
		}
		if v, ok := s.Param("faults"); ok {
			if _, what := ParseFaults(v); what != "" {
				return s.wrong("faults: %s", what)
			}
		}
		if name, ok := s.Param("mutant"); ok {
			if _, what := c.registry.mutant(name); what != "" {
				return s.wrong("%s", what)
			}
		}
		_, err = sec.schedule(c.file)
		return err
	},
	run: func(r *Run, s *Step) error {
		sec := r.file.section(s.Word(0))
		if sec == nil {
			return s.wrong("no section %s%s", s.Word(0), suggest(s.Word(0), r.file.sectionNames()))
		}
		entries, err := sec.schedule(r.file)
		if err != nil {
			return err
		}
		r.course.faults = s.faults()
		if name, ok := s.Param("mutant"); ok {
			m, _ := r.registry.mutant(name)
			r.replace, r.counting.prefer = inPlace(m), m.Law
		}
		r.counting.strict = r.counting.strict || s.flag("strict")
		r.course.follow(entries)
		return nil
	},
}

// recorded runs a program by the recorded schedule and returns the decisions.
func (s *Step) recorded(p *Script) (explore.Schedule, error) {
	p.atOnce, p.Faults, p.Strict = false, s.faults(), p.Strict || s.flag("strict")
	if name, ok := s.Param("mutant"); ok {
		p.mutate(name)
	}
	return p.File.section(s.Word(0)).schedule(p.File)
}
