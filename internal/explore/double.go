package explore

import (
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/sim"
)

// Disagreement reports that two runs of one schedule differ. So the program depends on more than the schedule.
type Disagreement struct {
	Index         int    // index of the run
	Seed          uint64 // the seed of the run
	Step          int    // first step that differs; 0 is the start of the world
	First, Second string // what the two runs did at this step
	Request       string // the first request that differs, with the fields that differ; "" if all requests are equal
	Program       bool   // an external program sent requests
}

func (d *Disagreement) Error() string {
	return fmt.Sprintf("run %d (seed %d): two runs of one schedule differ%s%s", d.Index, d.Seed, d.Where(), d.Causes())
}

// Where returns the first difference for the end of a sentence: " at step 3: first x, then y".
func (d *Disagreement) Where() string {
	if d.Request != "" {
		return fmt.Sprintf(" at step %d: %s", d.Step, d.Request)
	}
	return fmt.Sprintf(" at step %d: first %s, then %s", d.Step, d.First, d.Second)
}

// Causes lists common causes, one per line. It returns "" if no external program ran.
func (d *Disagreement) Causes() string {
	if !d.Program {
		return ""
	}
	return `
usual causes: the operating system's time, a time from before the program's start, a sync.Map, a sort by ` +
		`addresses, a call of runtime.GC
also, in the test's own process: a global counter or cache that outlives the run, crypto/rand, UUIDs, and maps and ` +
		`selects unless threelaws test (go test with the overlay) built the test`
}

// trace contains the data by which two runs of a schedule are compared.
type trace struct {
	trail    []uint64
	sent     []int // for each entry of trail: the number of requests before it
	requests []sim.Request
	entries  Schedule
	hash     uint64 // World.Hash at the end
	steps    int
	state    uint64
	label    string
	found    *Violation // the first; nil if there is none
}

// traceOf returns the trace of a run. It takes the requests from the recorder's world, and releases the world.
func traceOf(r *Recorder, out *Outcome) trace {
	t := trace{trail: r.trail, sent: r.sent, entries: r.entries, hash: out.Hash, steps: out.Steps, state: out.State,
		label: out.Label}
	if len(out.Findings) > 0 {
		t.found = &out.Findings[0]
	}
	if r.world != nil {
		t.requests, r.world = r.world.Requests(), nil
	}
	return t
}

// violationOf describes the first violation of a run.
func violationOf(out *Outcome) string {
	if len(out.Findings) == 0 {
		return (*Violation)(nil).text()
	}
	return out.Findings[0].text()
}

// agrees is like [Violation.Same], and also compares the steps. It does not compare the texts: that of an endless loop says
// where the program was when it was stopped.
func (b *Violation) agrees(c *Violation) bool {
	if b == nil || c == nil {
		return b == c
	}
	return b.Same(*c) && b.Step == c.Step
}

// clone copies the slices that the recorder's next run overwrites: all except the requests.
func (t trace) clone() trace {
	t.trail, t.sent = slices.Clone(t.trail), slices.Clone(t.sent)
	t.entries = slices.Clone(t.entries)
	return t
}

// disagree returns the first difference between two runs, or nil if they are equal.
func disagree(a, b trace) *Disagreement {
	i := 0
	for i < min(len(a.trail), len(b.trail)) && a.trail[i] == b.trail[i] {
		i++
	}
	var d *Disagreement
	switch {
	case i < len(a.trail) || i < len(b.trail) || a.hash != b.hash || a.steps != b.steps:
		d = a.differ(b, i)
	case a.state != b.state || a.label != b.label:
		d = &Disagreement{Step: a.steps,
			First:  fmt.Sprintf("ended in %q (state %016x)", a.label, a.state),
			Second: fmt.Sprintf("ended in %q (state %016x)", b.label, b.state)}
	case !a.found.agrees(b.found):
		d = &Disagreement{Step: a.steps, First: a.found.text(), Second: b.found.text()}
	default:
		return nil
	}
	d.Program = len(a.requests)+len(b.requests) > 0
	if step, text := differing(a.before(i), b.before(i)); text != "" {
		d.Step, d.Request = step, text
	}
	return d
}

// differ describes two runs whose hashes differ before the i-th decision about an action. It names the decision before
// that one: either this decision or its effects differ.
func (t trace) differ(u trace, i int) *Disagreement {
	step, first := t.decision(i - 1)
	_, second := u.decision(i - 1)
	return &Disagreement{Step: step,
		First:  fmt.Sprintf("%q (hash %016x)", first, t.hashAt(i)),
		Second: fmt.Sprintf("%q (hash %016x)", second, u.hashAt(i))}
}

// hashAt returns the hash before the i-th decision about an action, or the hash at the end.
func (t trace) hashAt(i int) uint64 {
	if i < len(t.trail) {
		return t.trail[i]
	}
	return t.hash
}

// before returns the requests that were sent before the i-th decision about an action.
func (t trace) before(i int) []sim.Request {
	if i < len(t.sent) {
		return t.requests[:t.sent[i]]
	}
	return t.requests
}

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

// Twice runs a program twice and compares the runs. choices returns a new recorder of the same choices on each call.
// Twice returns the outcome and the schedule of the first run, and a [*Disagreement] if the second run differs.
func Twice(p Runner, choices func() *Recorder) (*Outcome, Schedule, error) {
	r := choices()
	out := p(r)
	first := traceOf(r, out).clone()
	r = choices()
	if d := disagree(first, traceOf(r, p(r))); d != nil {
		return out, first.entries, d
	}
	return out, first.entries, nil
}
