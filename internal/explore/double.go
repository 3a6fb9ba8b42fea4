package explore

import "fmt"

// Disagreement is two runs of one schedule that differ: the program is not a
// function of its choices.
type Disagreement struct {
	Index         int    // of the run, from 0
	Seed          uint64 // of its choices
	Step          int    // the first step that differs; 0 is the start of the world
	First, Second string // what each run did there
}

func (d *Disagreement) Error() string {
	return fmt.Sprintf("run %d (seed %d): two runs of one schedule differ at step %d: first %s, then %s",
		d.Index, d.Seed, d.Step, d.First, d.Second)
}

// trace is what two runs of one schedule are compared by.
type trace struct {
	trail   []uint64
	entries Schedule
	hash    uint64 // at the end
	steps   int
	state   uint64
	label   string
}

func traceOf(r *Recorder, out *Outcome) trace {
	return trace{r.trail, r.entries, out.Hash, out.Steps, out.State, out.Label}
}

// clone copies the trace out of its recorder's memory.
func (t trace) clone() trace {
	t.trail = append([]uint64(nil), t.trail...)
	t.entries = append(Schedule(nil), t.entries...)
	return t
}

// disagree returns nil when both runs went the same way.
func disagree(a, b trace) *Disagreement {
	n := min(len(a.trail), len(b.trail))
	for i := range n {
		if a.trail[i] != b.trail[i] {
			return a.differ(b, i, a.trail[i], b.trail[i])
		}
	}
	switch {
	case len(a.trail) > n:
		return a.differ(b, n, a.trail[n], b.hash)
	case len(b.trail) > n:
		return a.differ(b, n, a.hash, b.trail[n])
	case a.hash != b.hash || a.steps != b.steps:
		return a.differ(b, n, a.hash, b.hash)
	case a.state != b.state || a.label != b.label:
		return &Disagreement{Step: a.steps,
			First:  fmt.Sprintf("ended in %q (state %016x)", a.label, a.state),
			Second: fmt.Sprintf("ended in %q (state %016x)", b.label, b.state)}
	}
	return nil
}

// differ describes two runs whose hashes differ in front of the i-th decision
// about an action: the one before it, or what came of it, is not the same.
func (t trace) differ(u trace, i int, hash, other uint64) *Disagreement {
	step, first := t.decision(i - 1)
	_, second := u.decision(i - 1)
	return &Disagreement{Step: step,
		First:  fmt.Sprintf("%q (hash %016x)", first, hash),
		Second: fmt.Sprintf("%q (hash %016x)", second, other)}
}

// decision returns the i-th decision about an action.
func (t trace) decision(i int) (step int, what string) {
	for _, e := range t.entries {
		if e.Kind == Pick {
			continue
		}
		if i == 0 {
			return e.Step, e.String()
		}
		i--
	}
	return 0, "start"
}

// Twice runs a program twice under the choices that choices returns afresh, and
// returns the first run's outcome, its schedule, and a [*Disagreement] if the
// second run differed.
func Twice(p Program, choices func() *Recorder) (*Outcome, Schedule, error) {
	r := choices()
	out := p(r)
	first := traceOf(r, out).clone()
	r = choices()
	if d := disagree(first, traceOf(r, p(r))); d != nil {
		return out, first.entries, d
	}
	return out, first.entries, nil
}
