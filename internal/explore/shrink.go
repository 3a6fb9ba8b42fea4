package explore

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// Shrinkable is a program with parts that can be taken out: objects, user actions,
// faults of the input.
type Shrinkable struct {
	// Parts describes each removable part in a few words.
	Parts []string
	// Without makes the program with some parts removed; removed is as long as
	// Parts and must not be kept. It returns nil where what is left makes no
	// sense.
	Without func(removed []bool) Program
	// Keep says which decisions must not all go: a run that took none of them
	// fails for another reason. nil asks for nothing.
	Keep func(*Entry) bool
	// Enough, if set, reports whether shrinking ends here although its budget is not used up.
	Enough func() bool
}

// Shrunk is a failing run made small.
type Shrunk struct {
	Violation Finding
	Outcome   *Outcome
	Schedule  Schedule // every decision up to the violation; [Replay] follows it
	Removed   []bool   // which parts were taken out
	Parts     int      // how many parts are left
	Runs      int      // executions it took
	// Minimal certifies that without any single part, fault, deviation or
	// decision, and with the rest as it is, the same law does not break in a
	// smaller run. It is false when the budget or the time ran out first.
	Minimal bool
}

// String says how small it is.
func (s *Shrunk) String() string {
	m := "not proven minimal"
	if s.Minimal {
		m = "no single one can be left out"
	}
	return fmt.Sprintf("%d decisions, %d of them not the default, %d faults, %d of %d parts; %s after %d runs",
		len(s.Schedule), s.Schedule.Deviations(), s.Schedule.Faults(), s.Parts, len(s.Removed), m, s.Runs)
}

// Shrink makes a failing run smaller while it breaks the same law at the same
// strength: first fewer parts, then fewer faults, then fewer decisions that
// differ from the default schedule, then fewer steps. It stops after budget
// executions, or shrinkSteps steps in all of them, or when the subject has enough. The error says that the schedule does not break the law.
func Shrink(subject Shrinkable, violation Finding, from Schedule, budget int) (*Shrunk, error) {
	s := &shrinker{
		subject: subject,
		target:  violation,
		budget:  max(budget, 1),
		tried:   map[uint64]struct{}{},
	}
	if !s.try(make([]bool, len(subject.Parts)), from) {
		return nil, fmt.Errorf("the schedule to be shrunk does not break %s", violation.Law)
	}
	for improved := true; improved; {
		improved = s.round()
	}
	b := s.best
	b.Runs = s.runs
	b.Minimal = !s.spent()
	for _, gone := range b.Removed {
		if !gone {
			b.Parts++
		}
	}
	return b, nil
}

// shrinker keeps the smallest failing run known.
type shrinker struct {
	subject Shrinkable
	target  Finding
	budget  int
	runs    int
	steps   int // in all of them
	best    *Shrunk
	size    size
	tried   map[uint64]struct{} // inputs that were run before: they cannot be smaller
	record  Recorder
	built   Program // the program of builtFor
	without []bool
}

// size orders failing runs.
type size struct{ parts, faults, deviations, decisions int }

func (a size) less(b size) bool {
	switch {
	case a.parts != b.parts:
		return a.parts < b.parts
	case a.faults != b.faults:
		return a.faults < b.faults
	case a.deviations != b.deviations:
		return a.deviations < b.deviations
	}
	return a.decisions < b.decisions
}

func sizeOf(removed []bool, s Schedule) size {
	z := size{faults: s.Faults(), deviations: s.Deviations(), decisions: len(s)}
	for _, gone := range removed {
		if !gone {
			z.parts++
		}
	}
	return z
}

// try runs the input and keeps it if it fails alike and is smaller. What is
// kept is the schedule as it was taken, cut off at the violation.
func (s *shrinker) try(removed []bool, entries Schedule) bool {
	if s.spent() {
		return false
	}
	id := identify(removed, entries.Decided())
	if _, again := s.tried[id]; again {
		return false
	}
	s.tried[id] = struct{}{}
	p := s.program(removed)
	if p == nil {
		return false
	}
	if s.runs++; s.runs > 1 {
		s.record.Halt = s.subject.Enough // in the midst of a long run as well
	}
	s.record.Reset(Follow(entries))
	out := p(&s.record)
	s.steps += out.Steps
	violation, ok := s.broken(out)
	if !ok {
		return false
	}
	taken := cut(s.record.Schedule(), violation)
	if keep := s.subject.Keep; keep != nil && !slices.ContainsFunc(taken, func(e Entry) bool { return keep(&e) }) {
		return false
	}
	z := sizeOf(removed, taken)
	if s.best != nil && !z.less(s.size) {
		return false
	}
	s.size = z
	s.best = &Shrunk{
		Violation: violation, Outcome: out,
		Schedule: append(Schedule(nil), taken...),
		Removed:  append([]bool(nil), removed...),
	}
	return true
}

// shrinkSteps bounds what making a failure small costs where each run is long, as one is
// that never settles: its parts and its faults are tried, not each of its decisions.
const shrinkSteps = 1_000_000

// spent reports whether nothing more is tried. The failing run itself always is.
func (s *shrinker) spent() bool {
	return s.runs >= s.budget || s.steps >= shrinkSteps ||
		s.runs > 0 && s.subject.Enough != nil && s.subject.Enough()
}

func (s *shrinker) broken(out *Outcome) (Finding, bool) {
	for _, b := range out.Findings {
		if b.Same(s.target) {
			return b, true
		}
	}
	return Finding{}, false
}

// cut drops what was decided after the violation.
func cut(taken Schedule, b Finding) Schedule {
	if b.Step == 0 {
		return taken
	}
	n := len(taken)
	for n > 0 && taken[n-1].Step > b.Step {
		n--
	}
	return taken[:n]
}

// program makes the program without the removed parts, unless it is the one
// that was made last.
func (s *shrinker) program(removed []bool) Program {
	same := s.without != nil && len(s.without) == len(removed)
	for i := range removed {
		same = same && s.without[i] == removed[i]
	}
	if !same {
		s.without = append(make([]bool, 0, len(removed)), removed...)
		s.built = s.subject.Without(removed)
	}
	return s.built
}

func identify(removed []bool, entries Schedule) uint64 {
	var h sim.Hash
	for _, gone := range removed {
		h.Bool(gone)
	}
	for i := range entries {
		e := &entries[i]
		h.Bool(e.Default)
		if e.Default {
			continue
		}
		h.Word(uint64(e.Kind)<<32 | uint64(e.Action.Class))
		h.Word(uint64(e.Value))
		h.String(e.Action.Actor)
		h.String(e.Action.Detail)
		h.String(e.Label)
	}
	return uint64(h)
}
