package explore

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// Shrinkable is a program with removable parts: objects, user actions, and faults of the input.
type Shrinkable struct {
	// Parts describes each removable part in a few words.
	Parts []string
	// Without returns the program without the removed parts, or nil if the remaining parts are not a program. The slice
	// removed has the length of Parts. Without must not retain the slice.
	Without func(removed []bool) Runner
	// Keep reports whether a decision seems essential for the failure. Until the failure is as small as possible, runs
	// without any such decision are rejected, because they may fail for another reason. If Keep is nil, none is
	// rejected.
	Keep func(*Entry) bool
	// Enough, if not nil, reports whether to stop shrinking before the budget is used.
	Enough func() bool
}

// Shrunk is a minimized failing run.
type Shrunk struct {
	Violation Violation
	Outcome   *Outcome
	Schedule  Schedule // all decisions up to the violation; [Replay] follows it
	Removed   []bool   // for each part, whether it was removed
	Parts     int      // the number of remaining parts
	Runs      int      // the number of runs of the program
	// Minimal means that the removal of any single part, fault, deviation or decision makes the run pass. Minimal is
	// false if the budget or the time did not suffice to prove this.
	Minimal bool
}

// String describes the size of the run.
func (s *Shrunk) String() string {
	m := "not proven minimal"
	if s.Minimal {
		m = "no single one can be removed"
	}
	return fmt.Sprintf("%d decisions, %d of them not the default, %d faults, %d of %d parts; %s after %d runs",
		len(s.Schedule), s.Schedule.Deviations(), s.Schedule.Faults(), s.Parts, len(s.Removed), m, s.Runs)
}

// Shrink minimizes a run that violates a law. The result violates the same law, with the same value of Informed, and
// its Cause is part of the first run's Cause. Shrink prefers fewer parts, then fewer faults, then fewer deviations from
// the default schedule, then fewer steps. It stops after budget runs, after a million steps in total, or when
// subject.Enough returns true. It returns a [*Disagreement] if the given schedule does not violate the law.
func Shrink(subject Shrinkable, violation Violation, from Schedule, budget int) (*Shrunk, error) {
	s := &shrinker{
		subject: subject,
		target:  violation,
		budget:  max(budget, 1),
		tried:   map[uint64]struct{}{},
	}
	if !s.try(make([]bool, len(subject.Parts)), from) {
		return nil, s.differs()
	}
	for s.round() {
	}
	if s.subject.Keep != nil { // the smallest program may fail for the same reason without the faults
		s.subject.Keep = nil
		clear(s.tried)
		for s.each(faults, drop) && s.simplify() {
		}
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

// differs describes that the run to be shrunk and its replay have different violations.
func (s *shrinker) differs() *Disagreement {
	d := &Disagreement{Step: s.target.Step, First: s.target.text(), Second: violationOf(s.first)}
	if w := s.record.world; w != nil {
		d.Program = len(w.Requests()) > 0
	}
	return d
}

// shrinker holds the smallest failing run so far.
type shrinker struct {
	subject Shrinkable
	target  Violation
	budget  int
	runs    int
	steps   int      // sum of the steps of all runs
	first   *Outcome // of the schedule given to [Shrink]
	best    *Shrunk
	size    size
	tried   map[uint64]struct{} // hashes of the arguments of all calls of try
	record  Recorder
	built   Runner // the program without the parts that are true in without
	without []bool
}

// size measures a failing run. Its fields are compared in this order.
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

// try runs the program without the removed parts under the schedule entries. It returns false for arguments that it has
// tried before. It returns true if the run violates the law, has a decision that Keep accepts, and is smaller than the
// best run so far. Then try stores the run in best, with the decisions up to the violation.
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
		s.record.Halt = s.subject.Enough // Enough can also end a long run
	}
	s.record.Reset(Follow(entries))
	out := p(&s.record)
	s.steps += out.Steps
	if s.first == nil {
		s.first = out
	}
	violation, ok := s.violated(out)
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

// shrinkSteps is the maximal number of steps in all runs together. For runs that never settle, it suffices to remove
// parts and faults, but not single decisions.
const shrinkSteps = 1_000_000

// spent reports whether shrinking must stop. The first run, of the schedule given to [Shrink], is always executed.
func (s *shrinker) spent() bool {
	return s.runs >= s.budget || s.steps >= shrinkSteps ||
		s.runs > 0 && s.subject.Enough != nil && s.subject.Enough()
}

func (s *shrinker) violated(out *Outcome) (Violation, bool) {
	for _, b := range out.Findings {
		if b.Same(s.target) && (s.best == nil || within(b.Cause, s.best.Violation.Cause)) {
			return b, true
		}
	}
	return Violation{}, false
}

// within reports whether a contains only elements of b. If a is empty, b must be empty too.
func within(a, b []string) bool {
	return (len(a) > 0 || len(b) == 0) && !slices.ContainsFunc(a, func(x string) bool { return !slices.Contains(b, x) })
}

// cut removes the decisions after the step of the violation, if the step is known.
func cut(taken Schedule, b Violation) Schedule {
	if b.Step == 0 {
		return taken
	}
	n := len(taken)
	for n > 0 && taken[n-1].Step > b.Step {
		n--
	}
	return taken[:n]
}

// program returns the program without the removed parts. It returns the last program again if the parts are the same.
func (s *shrinker) program(removed []bool) Runner {
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
