package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/nearest"
)

var verbSchedule = &Verb{
	Name: "schedule", Args: "SECTION [faults=NAME:N,...] [mutant=NAME] [--strict]", Min: 1, Max: 1,
	Summary: "run the following steps in a recorded schedule",
	Detail: `The section's first line is "` + scheduleVersion + `". Every other line is a decision: the
key of an action, "leave", or "pick NUMBER LABEL". The decisions apply to all settles
that are not quiet. As in explored runs, user actions after the first settle race with
the controllers. A decision that is not possible is an error. This step must be the first
one of its file.`,
	Example: "schedule failure",
	Params: []Param{
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "mutant", Summary: "a mutant that runs instead of its controller"},
		{Name: "strict", Summary: "lost races are violations", Values: []string{"true", "false"}},
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
		entries, err := r.file.section(s.Word(0)).schedule(r.file)
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

// recorded returns the recorded schedule. It copies the faults, the mutant and the strictness of the step to the
// script.
func (s *Step) recorded(p *Script) (explore.Schedule, error) {
	p.atOnce, p.Faults, p.Strict = false, s.faults(), p.Strict || s.flag("strict")
	if name, ok := s.Param("mutant"); ok {
		p.mutate(name)
	}
	return p.File.section(s.Word(0)).schedule(p.File)
}

// scheduleVersion is the first line of a section with a schedule. It changes if older schedules no longer give the same
// runs.
const scheduleVersion = "threelaws schedule 1"

// misfit returns an error about a run that cannot follow the file's schedule. The error contains the line of the entry
// and suggests the nearest possible action.
func (f *File) misfit(err error) *Error {
	s := f.Steps[0]
	var m *explore.Mismatch
	sec := f.section(s.Word(0))
	if sec == nil || !errors.As(err, &m) || m.Entry > len(sec.entries) {
		return s.wrong("the schedule does not fit the file: %v", err)
	}
	text := fmt.Sprintf("the schedule does not fit the file: %s cannot be taken at step %d", m.Want, m.Step)
	switch n := nearest.Word(m.Want, m.Enabled); {
	case m.Step == 0: // the run ended before this entry, which has no step because it comes from a file
		text = fmt.Sprintf("the schedule does not fit the file: %s is never taken: the run is over before it", m.Want)
	case n != "":
		text += "; did you mean " + n + "?"
	default:
		text += ": the enabled actions are " + strings.Join(m.Enabled, ", ")
	}
	return wrong(f.Name, sec.entries[m.Entry-1], "", "%s", text)
}

func (s *section) schedule(f *File) (explore.Schedule, error) {
	var entries explore.Schedule
	var lines []int
	line := s.line
	header := false
	for text := range strings.Lines(s.body) {
		line++
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
		case !header:
			header = true
			if err := s.checkVersion(f, line, text); err != nil {
				return nil, err
			}
		default:
			e, err := explore.ParseEntry(text)
			if err != nil {
				return nil, wrong(f.Name, line, "", "bad schedule: %v", err)
			}
			entries, lines = append(entries, e), append(lines, line)
		}
	}
	if !header {
		return nil, s.noSchedule(f, s.line)
	}
	if s.entries == nil { // once entries is set, concurrent runs of the file only read it
		s.entries = lines
	}
	return entries, nil
}

func (s *section) checkVersion(f *File, line int, text string) error {
	switch {
	case text == scheduleVersion:
		return nil
	case strings.HasPrefix(text, "threelaws schedule "):
		return wrong(f.Name, line, "", "section %s is a schedule of another version: %q, this program reads %q",
			s.name, text, scheduleVersion)
	}
	return s.noSchedule(f, line)
}

func (s *section) noSchedule(f *File, line int) error {
	return wrong(f.Name, line, "", "section %s is no schedule: its first line must be %q", s.name, scheduleVersion)
}
