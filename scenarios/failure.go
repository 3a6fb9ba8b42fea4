package scenarios

import (
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/sim/explore"
)

// ScheduleVersion is the first line of a schedule's section. It changes when a
// schedule written before no longer means the same.
const ScheduleVersion = "threelaws schedule 1"

// scheduleSection is the name of the section a failure's schedule is in.
const scheduleSection = "schedule"

// failureFile writes a failure as a scenario file that replays it: the script
// that is left, the schedule, the timeline and the run's hash as golden text.
func (p *Program) failureFile(f *Failing, small *explore.Shrunk, out *explore.Outcome) ([]byte, error) {
	text := p.failureText(f, small, nil)
	file, err := Parse(p.File.Name, []byte(text))
	if err != nil {
		return nil, fmt.Errorf("a failure was written that cannot be read: %w", err)
	}
	res := Interpret(file, Options{Registry: p.Registry, Strict: p.Strict})
	text = p.failureText(f, small, res.failedLines())
	if file, err = Parse(p.File.Name, []byte(text)); err != nil {
		return nil, fmt.Errorf("a failure was written that cannot be read: %w", err)
	}
	res = Interpret(file, Options{Registry: p.Registry, Strict: p.Strict, fill: true})
	return res.file.Format(), nil
}

// failureText is the file without golden text; failed holds the lines of steps
// that need a "!".
func (p *Program) failureText(f *Failing, small *explore.Shrunk, failed map[int]bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s is broken: %s\n", f.Law, f.Text)
	fmt.Fprintf(&b, "# found by explore in schedule %d (%s), %s\n\n", f.Index, f.Strategy, f.Small)
	line := 4
	write := func(s string, golden bool) {
		if failed[line] && !strings.HasPrefix(s, "! ") {
			s = "! " + s
		}
		b.WriteString(s + "\n")
		line++
		if golden {
			b.WriteString("----\n\n")
			line += 2
		}
	}
	strict := ""
	if p.Strict {
		strict = " --strict"
	}
	write("schedule "+scheduleSection+faultsArg(p.Faults)+strict, false)
	if len(p.Laws) > 0 {
		write("judge "+strings.Join(p.Laws, " "), false)
	}
	settled := false
	for _, s := range p.File.Steps[:p.Until] {
		v := FindVerb(s.Verb)
		if !v.replayed() {
			continue
		}
		settled = s.Verb == verbSettle.Name
		write(s.String(), settled && !s.Has("quiet"))
	}
	if !settled {
		write("settle", true)
	}
	write("hash", true)
	for _, s := range p.File.Sections {
		if s.Name != scheduleSection && p.uses(s) {
			fmt.Fprintf(&b, "-- %s --\n%s\n", s.Name, strings.TrimRight(s.Body, "\n"))
		}
	}
	fmt.Fprintf(&b, "-- %s --\n%s\n", scheduleSection, ScheduleVersion)
	for _, k := range small.Schedule.Keys() {
		b.WriteString(k + "\n")
	}
	return b.String()
}

// uses reports whether a step of the program reads the section.
func (p *Program) uses(sec *Section) bool {
	for _, s := range p.File.Steps[:p.Until] {
		if s.Verb == verbApply.Name || s.Verb == verbCreate.Name {
			for _, w := range s.Words() {
				if w == sec.Name {
					return true
				}
			}
		}
	}
	return false
}

func faultsArg(faults map[string]int) string {
	var parts []string
	for _, name := range sortedNames(faults) {
		parts = append(parts, fmt.Sprintf("%s:%d", name, faults[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " faults=" + strings.Join(parts, ",")
}
