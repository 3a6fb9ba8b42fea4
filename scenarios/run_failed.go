package scenarios

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim/law"
)

// Failure is a step that broke a law, in which an expectation did not hold, or
// after which the world did not come to rest.
type Failure struct {
	Step   *Step       // nil for the settle at the end of a script that has none
	Code   int         // the exit code it stands for if nothing expects it
	Breach render.Mark // what is to be shown; Law is a verb where no law is broken

	from int // the first record to be shown
}

// Expected reports whether the step has a "!".
func (f *Failure) Expected() bool { return f.Step != nil && f.Step.Expect }

// failed is what did not go as it should in a run.
type failed struct {
	all    []Failure    // in order
	unread bool         // nobody asks for them, which it takes a timeline to note
	found  *render.Page // what a step that explores found
}

// last is the failure that ended the run, nil for none.
func (f *failed) last() *Failure {
	if n := len(f.all); n > 0 {
		return &f.all[n-1]
	}
	return nil
}

// expectation is what a failure names in place of a law where an expectation of
// the file does not hold: the verb that says most of them.
const expectation = "expect"

// Failures lists what did not go as it should, in order, whether the file
// expects it or not. Refusals are not among it.
func (r *Run) Failures() []Failure { return r.failed.all }

// Page shows a failure of the run, nil for none.
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

// The page of a failure holds this many lines that each process has printed, and this many bytes of each.
const (
	mostPrinted    = 200
	longestPrinted = 2000
)

// fail notes a failure of the step being run, of which is shown what happened
// from a record on.
func (r *Run) fail(code int, b render.Mark, from int) {
	r.failed.all = append(r.failed.all, Failure{Step: r.step, Code: code, Breach: b, from: from})
}

// breaks notes a law that was broken in the step being run.
func (r *Run) breaks(b *law.Breach) {
	switch {
	case r.failed.unread:
	case b.Law.ID == law.ComeToRest:
		r.failSettle(b.Text)
	default:
		r.fail(ExitFail, render.MarkOf(*b), r.telling.initial())
	}
}

// amiss notes a step that did not go as it should although it broke no law, or
// broke the law against fights.
func (r *Run) amiss(s *Step, e *Error) {
	switch {
	case e.bang || r.failed.found != nil:
	case s.verb.expects != nil:
		r.failExpect(e.Text)
	case e.Code == ExitNotSettled && s.verb.settles:
		r.failSettle(e.Text)
	}
}

// failExpect notes an expectation that does not hold after what happened last.
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

// mostLines is how many lines the page of a world that does not settle has,
// where no round of it can be shown.
const mostLines = 40

// failSettle notes a world that did not come to rest: as the fight it is, as
// the round that repeats, or by what happened last.
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

// lastRecord is the last record in the last line, or of all where there is no
// line.
func (r *Run) lastRecord(lines []render.Line) int {
	if len(lines) == 0 {
		return r.telling.history.Len() - 1
	}
	records := lines[len(lines)-1].Records
	return records[len(records)-1]
}
