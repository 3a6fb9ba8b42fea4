package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

// Failure is a step that violated a law, whose expectation did not hold, or after which the world did not settle.
type Failure struct {
	Step   *Step       // nil for the settle at the end of a script that has none
	Code   int         // the exit code if the step does not expect it
	Breach render.Mark // what to show; Law is a verb if no law was violated

	from int // the first record to show
}

// Expected reports whether the step has a "!".
func (f *Failure) Expected() bool { return f.Step != nil && f.Step.Expect }

// failed collects the failures of a run.
type failed struct {
	all    []Failure    // in order
	unread bool         // nobody reads them, so no timeline is rendered
	found  *render.Page // the finding of a step that explores
}

// last returns the failure that ended the run, or nil.
func (f *failed) last() *Failure {
	if n := len(f.all); n > 0 {
		return &f.all[n-1]
	}
	return nil
}

// expectation stands in place of a law if an expectation of the file does not hold.
const expectation = "expect"

// Failures lists the failures in order, expected or not. It does not include refusals.
func (r *Run) Failures() []Failure { return r.failed.all }

// Page returns the page of a failure of the run, or nil.
func (r *Run) Page(f *Failure) *Page {
	if f == nil {
		return nil
	}
	p := render.NewPage(r.telling.history, f.Breach, f.from)
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

// The page of a failure holds at most this many lines of each process's output, and this many bytes of each line.
const (
	mostPrinted    = 200
	longestPrinted = 2000
)

// fail records a failure of the step being run. Its timeline begins at the record from.
func (r *Run) fail(code int, b render.Mark, from int) {
	r.failed.all = append(r.failed.all, Failure{Step: r.step, Code: code, Breach: b, from: from})
}

// breaks records a violation in the step being run.
func (r *Run) breaks(b *law.Breach) {
	switch {
	case r.failed.unread:
	case b.Law.ID == law.ComeToRest:
		r.failSettle(b.Text)
	default:
		r.fail(ExitFail, render.MarkOf(*b), r.telling.initial())
	}
}

// amiss records a failed step that violated no law, or only the law against fights.
func (r *Run) amiss(s *Step, e *Error) {
	switch {
	case e.bang || r.failed.found != nil:
	case s.verb.expects != nil:
		r.failExpect(e.Text)
	case e.Code == ExitNotSettled && s.verb.settles:
		r.failSettle(e.Text)
	}
}

// failExpect records an expectation that does not hold after the last events.
func (r *Run) failExpect(text string) {
	if r.failed.unread {
		return
	}
	b := render.Mark{Law: expectation, Sentence: "What the file expects holds in every schedule.", Text: text}
	if l := r.step.lawOf(); l != nil {
		b.Law, b.Sentence, b.Source, b.Text = l.Name, l.Sentence, l.Source, strings.TrimPrefix(text, r.step.String()+": ")
	}
	from := r.telling.initial()
	b.Record = r.lastRecord(r.telling.lines(&r.counting, from, false))
	r.fail(ExitFail, b, from)
}

// mostLines limits the page of a world that does not settle and has no repeating round.
const mostLines = 40

// failSettle records a world that did not settle. It shows the fight, the repeating round, or the last events.
func (r *Run) failSettle(text string) {
	bs := r.Breaches()
	for i := len(bs) - 1; i >= 0 && bs[i].Record >= r.settled.from; i-- {
		if len(bs[i].Cycle) > 0 {
			r.fail(ExitFail, bs[i], r.telling.initial())
			return
		}
	}
	rest := law.ByID(law.ComeToRest)
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

// lastRecord returns the last record of the last line, or of the run if there is no line.
func (r *Run) lastRecord(lines []render.Line) int {
	if len(lines) == 0 {
		return r.telling.history.Len() - 1
	}
	records := lines[len(lines)-1].Records
	return records[len(records)-1]
}
