package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
)

var verbSchedule = &Verb{
	Name: "schedule", Args: "SECTION [faults=NAME:N,...] [mutant=NAME] [--strict]", Min: 1, Max: 1,
	Summary: "run what follows in a recorded schedule",
	Detail: `The section's first line is "` + ScheduleVersion + `", every other one a decision: an
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
		sec := r.file.Section(s.Word(0))
		if sec == nil {
			return s.wrong("no section %s%s", s.Word(0), suggest(s.Word(0), r.file.SectionNames()))
		}
		entries, err := sec.schedule(r.file)
		if err != nil {
			return err
		}
		r.faults = s.faults()
		if name, ok := s.Param("mutant"); ok {
			m, _ := r.Registry.mutant(name)
			r.replace, r.prefer = inPlace(m), m.Law
		}
		r.Strict = r.Strict || s.flag("strict")
		r.Follow(entries)
		return nil
	},
}

// faults reads the fault budget of a step that was checked, nil for none.
func (s *Step) faults() map[string]int {
	v, ok := s.Param("faults")
	if !ok {
		return nil
	}
	counts, _ := ParseFaults(v)
	return counts
}

// recorded makes a program run as the schedule has it, and returns what was
// decided.
func (s *Step) recorded(p *Script) (explore.Schedule, error) {
	p.Default, p.Faults, p.Strict = false, s.faults(), p.Strict || s.flag("strict")
	if name, ok := s.Param("mutant"); ok {
		p.mutate(name)
	}
	return p.File.Section(s.Word(0)).schedule(p.File)
}

// Follow makes every settle that is not quiet go as the schedule says.
func (r *Run) Follow(s explore.Schedule) {
	r.keys = explore.Replay(s)
	r.choices, r.explored = r.keys, true
}

// misfit words where a run does not follow the schedule of its file: at the
// entry's own line, with the nearest thing that could have been done.
func (f *File) misfit(err error) *Error {
	s := f.Steps[0]
	var m *explore.Mismatch
	sec := f.Section(s.Word(0))
	if sec == nil || !errors.As(err, &m) || m.Entry > len(sec.entries) {
		return s.wrong("the schedule does not fit the file: %v", err)
	}
	text := fmt.Sprintf("the schedule does not fit the file: %s cannot be taken at step %d", m.Want, m.Step)
	switch n := Nearest(m.Want, m.Enabled); {
	case m.Step == 0: // of a schedule that was read, not recorded
		text = fmt.Sprintf("the schedule does not fit the file: %s is never taken: the run is over before it", m.Want)
	case n != "":
		text += "; did you mean " + n + "?"
	default:
		text += ": enabled are " + strings.Join(m.Enabled, ", ")
	}
	return wrong(f.Name, sec.entries[m.Entry-1], "", "%s", text)
}

// schedule reads the section as a schedule.
func (s *Section) schedule(f *File) (explore.Schedule, error) {
	var entries explore.Schedule
	var lines []int
	line := s.Line
	header := false
	for text := range strings.Lines(s.Body) {
		line++
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
		case !header:
			header = true
			if text != ScheduleVersion {
				if strings.HasPrefix(text, "threelaws schedule ") {
					return nil, wrong(f.Name, line, "", "section %s is a schedule of another version: %q, this program reads %q", s.Name, text, ScheduleVersion)
				}
				return nil, wrong(f.Name, line, "", "section %s is no schedule: its first line must be %q", s.Name, ScheduleVersion)
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
		return nil, wrong(f.Name, s.Line, "", "section %s is no schedule: its first line must be %q", s.Name, ScheduleVersion)
	}
	if s.entries == nil { // runs that share the file only read it
		s.entries = lines
	}
	return entries, nil
}

func sortedNames(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }
