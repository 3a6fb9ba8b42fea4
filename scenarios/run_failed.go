package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

// Failure is a failure of a step: it violated a law, its expectation did not hold, or the world did not settle.
type Failure struct {
	Step      *Step       // nil if the failure is in the settle after the script
	Code      int         // the exit code, if the failure is not expected
	Violation render.Mark // what to show; Law is "expect" if an expectation of the file does not hold

	from int // index of the first record to show
}

// Expected reports whether the step has a "!".
func (f *Failure) Expected() bool { return f.Step != nil && f.Step.Expect }

type failed struct {
	all    []Failure    // in order of occurrence
	unread bool         // do not add violations and failed expectations to all, because explored runs show none
	found  *render.Page // the page of the failure that an explore or mutant step found
}

// last returns the last failure, or nil. An unexpected failure ends the run, so it is always the last.
func (f *failed) last() *Failure {
	if n := len(f.all); n > 0 {
		return &f.all[n-1]
	}
	return nil
}

// expectation is used as the ID of a law if an expectation of the file does not hold.
const expectation = "expect"

// Failures returns all failures in order, also expected ones. Refused requests are not failures.
func (r *Run) Failures() []Failure { return r.failed.all }

// Page returns the page of a failure, or nil.
func (r *Run) Page(f *Failure) *render.Page {
	if f == nil {
		return nil
	}
	p := render.NewPage(r.telling.history, f.Violation, f.from)
	p.Title = r.file.Name
	for _, process := range r.t.Cluster.Processes() {
		if lines := process.Printed(mostPrinted); len(lines) > 0 {
			for i, line := range lines {
				lines[i] = strings.ToValidUTF8(line[:min(len(line), longestPrinted)], "")
			}
			p.Printed = append(p.Printed, render.Printed{Process: process.Name, Lines: lines})
		}
	}
	return p
}

// The limits for a process's output on a page: the number of lines, and the bytes of a line.
const (
	mostPrinted    = 200
	longestPrinted = 2000
)

// fail records a failure of the current step. from is the index of the first record to show.
func (r *Run) fail(code int, b render.Mark, from int) {
	r.failed.all = append(r.failed.all, Failure{Step: r.step, Code: code, Violation: b, from: from})
}

// breaks records a violation by the current step.
func (r *Run) breaks(b *law.Violation) {
	switch {
	case r.failed.unread:
	case b.Law.ID == law.AlwaysSettles:
		r.failSettle(b.Text)
	default:
		r.fail(ExitFail, render.MarkOf(*b), r.telling.initial())
	}
}

// amiss records a step whose expectation does not hold, or a settle after which the world has not settled.
func (r *Run) amiss(s *Step, e *Error) {
	switch {
	case e.bang || r.failed.found != nil:
	case s.verb.expects != nil:
		r.failExpect(e.Text)
	case e.Code == ExitNotSettled && s.verb.settles:
		r.failSettle(e.Text)
	}
}

// failExpect records an expectation that does not hold. The page shows the last events.
func (r *Run) failExpect(text string) {
	if r.failed.unread {
		return
	}
	b := render.Mark{Law: expectation, Sentence: "What the file or the case expects holds in every schedule.", Text: text}
	if l := r.step.lawOf(); l != nil {
		b.Law, b.Sentence, b.Source, b.Text = l.Name, l.Sentence, l.Source, strings.TrimPrefix(text, r.step.String()+": ")
	}
	from := r.telling.initial()
	b.Record = r.lastRecord(r.telling.lines(&r.counting, from, false))
	end := r.telling.history.At(r.telling.history.Len() - 1)
	if r.step.Verb == verbEnsure.Name && end != nil && end.Op == sim.Settled {
		b.Record = end.Index // the condition is about the settled world, not about the last write
	}
	r.fail(ExitFail, b, from)
}

// mostLines is the maximal number of lines on a page about a world that does not settle, if no lines repeat.
const mostLines = 40

// failSettle records that the world did not settle. The page shows the fight, or the repeated lines, or the last
// events.
func (r *Run) failSettle(text string) {
	bs := r.Violations()
	for i := len(bs) - 1; i >= 0 && bs[i].Record >= r.settled.from; i-- {
		if len(bs[i].Cycle) > 0 {
			r.fail(ExitFail, bs[i], r.telling.initial())
			return
		}
	}
	rest := law.ByID(law.AlwaysSettles)
	b := render.Mark{Law: rest.Name, Sentence: rest.Sentence, Source: rest.Source, Text: text}
	from := r.telling.initial()
	lines := r.telling.lines(&r.counting, r.settled.from, false)
	if first, last, ok := r.counting.cycle(lines); ok && last <= len(lines) {
		for _, l := range lines[first-1 : last] {
			b.Cycle = append(b.Cycle, l.Records...)
		}
		slices.Sort(b.Cycle)
		lines = lines[:last]
	} else if n := len(lines); n > mostLines {
		from = max(from, lines[n-mostLines].Records[0])
	}
	b.Record = r.lastRecord(lines)
	r.fail(ExitNotSettled, b, from)
}

func (r *Run) lastRecord(lines []render.Line) int {
	if len(lines) == 0 {
		return r.telling.history.Len() - 1
	}
	records := lines[len(lines)-1].Records
	return records[len(records)-1]
}

// counting decides which violations count, and which of them make a run fail.
type counting struct {
	judge    *law.Judge
	strict   bool              // a violation makes a run fail even if the process could not know of it
	prefer   string            // the ID of the law to report if several are violated at once; "" for the first
	only     map[*law.Law]bool // the laws that count; nil means all laws
	turns    []turn            // all sets of laws that counted, in order of time
	accepted int               // the number of the judge's violations that were already handled
}

// turn contains the laws that counted from a certain violation on.
type turn struct {
	from int               // index of this violation in the violations of the judge
	only map[*law.Law]bool // nil means all laws
}

// narrow sets the laws that count from the next violation on. nil means all laws.
func (c *counting) narrow(only map[*law.Law]bool) {
	c.only = only
	c.turns = append(c.turns, turn{len(c.judge.Violations()), only})
}

func (c *counting) counts(b *law.Violation) bool { return c.only == nil || c.only[b.Law] }

func (c *counting) fails(b *law.Violation) bool {
	return c.counts(b) && (c.strict || b.Strength == law.Informed)
}

func (c *counting) accept() { c.accepted = len(c.judge.Violations()) }

func (c *counting) pending() *law.Violation { return c.first(c.accepted) }

// first returns the first violation that makes the run fail, beginning with the index from. If several violations have
// the same record, it prefers the law prefer.
func (c *counting) first(from int) *law.Violation {
	bs := c.judge.Violations()
	var first *law.Violation
	for i := min(from, len(bs)); i < len(bs); i++ {
		switch b := &bs[i]; {
		case !c.fails(b):
		case first == nil:
			first = b
		case b.Record == first.Record && b.Law.ID == c.prefer:
			return b
		}
		if first != nil && (c.prefer == "" || first.Law.ID == c.prefer) {
			return first
		}
	}
	return first
}

// counted returns each violation whose law counted when the violation occurred.
func (c *counting) counted() []render.Mark {
	var all []render.Mark
	var only map[*law.Law]bool
	turn := 0
	for i, b := range c.judge.Violations() {
		for ; turn < len(c.turns) && c.turns[turn].from <= i; turn++ {
			only = c.turns[turn].only
		}
		if only == nil || only[b.Law] {
			all = append(all, render.MarkOf(b))
		}
	}
	return all
}

// telling decides what the timelines of a run show.
type telling struct {
	history *sim.History
	settles int          // number of barriers so far
	from    int          // index of the first record in the next timeline
	done    map[int]bool // steps of the world in which the script itself acted
	notes   []string     // lines that are printed below the next timeline
	verbose bool         // show status writes
}

// atOnce records that the script itself acted in a step of the world.
func (t *telling) atOnce(step int) {
	if t.done == nil {
		t.done = map[int]bool{}
	}
	t.done[step] = true
}

func (t *telling) lines(c *counting, from int, verbose bool) []render.Line {
	o := render.Options{From: from, Verbose: verbose}
	first := t.settles == 0
	o.Skip = func(rec *sim.Record) bool {
		return first && rec.Process == law.User && rec.Op == sim.Commit || rec.Op == sim.FaultHit && t.done[rec.Step]
	}
	for _, b := range c.judge.Violations() {
		if !c.counts(&b) {
			continue
		}
		o.Violations = append(o.Violations, render.MarkOf(b))
	}
	return render.Timeline(t.history, o)
}

func (t *telling) initial() int {
	for i := range t.history.Len() {
		if rec := t.history.At(i); rec != nil && rec.Process != law.User {
			return i
		}
	}
	return 0
}

// cycle returns the numbers of the first and last repeated line. It looks for a repetition at the end of the lines. If
// there is none, it looks for a cycle that a law found.
func (c *counting) cycle(lines []render.Line) (first, last int, ok bool) {
	if first, last, ok = render.Cycle(lines); ok {
		return first, last, ok
	}
	bs := c.judge.Violations()
	for i := len(bs) - 1; i >= 0; i-- {
		if len(bs[i].Cycle) > 0 {
			return render.Numbers(lines, bs[i].Cycle)
		}
	}
	return 0, 0, false
}
