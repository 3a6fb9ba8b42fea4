package scenarios

import (
	"slices"

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

// Failures lists what did not go as it should, in order, whether the file
// expects it or not. Refusals are not among it.
func (r *Run) Failures() []Failure { return r.failures }

// Page shows a failure of the run, nil for none.
func (r *Run) Page(f *Failure) *render.Page {
	if f == nil {
		return nil
	}
	p := render.NewPage(&r.t.World.History, f.Breach, f.from)
	if r.file != nil {
		p.Title = r.file.Name
	}
	return p
}

// lastFailure is the failure that ended the run, nil for none.
func (r *Run) lastFailure() *Failure {
	if n := len(r.failures); n > 0 {
		return &r.failures[n-1]
	}
	return nil
}

// breaks notes a law that was broken in the step being run.
func (r *Run) breaks(b *law.Breach) {
	if r.unread {
		return
	}
	if b.Law.ID == law.ComeToRest {
		r.failSettle(b.Text)
		return
	}
	r.failures = append(r.failures, Failure{Step: r.step, Code: ExitFail, Breach: render.MarkOf(*b), from: r.initial()})
}

// fail notes a step that did not go as it should although it broke no law, or
// broke the law against fights.
func (r *Run) fail(e *Error) {
	switch {
	case e.bang || r.found != nil:
	case FindVerb(e.Verb) != nil && FindVerb(e.Verb).expects != nil:
		r.failExpect(e.Text)
	case e.Code == ExitNotSettled && e.Verb == verbSettle.Name:
		r.failSettle(e.Text)
	}
}

// failExpect notes an expectation that does not hold after what happened last.
func (r *Run) failExpect(text string) {
	if r.unread {
		return
	}
	b := render.Mark{Law: verbExpect.Name, Sentence: "What the file expects holds in every schedule.", Text: text}
	from := r.initial()
	b.Record = lastRecord(r.timeline(from, false), r.t.World.History.Len()-1)
	r.failures = append(r.failures, Failure{Step: r.step, Code: ExitFail, Breach: b, from: from})
}

// mostLines is how many lines the page of a world that does not settle has,
// where no round of it can be shown.
const mostLines = 40

// failSettle notes a world that did not come to rest: as the fight it is, as
// the round that repeats, or by what happened last.
func (r *Run) failSettle(text string) {
	bs := r.Breaches()
	for i := len(bs) - 1; i >= 0 && bs[i].Record >= r.settledFrom; i-- {
		if len(bs[i].Cycle) > 0 {
			r.failures = append(r.failures, Failure{Step: r.step, Code: ExitFail, Breach: bs[i], from: r.initial()})
			return
		}
	}
	rest := law.ByID(law.ComeToRest)
	b := render.Mark{Law: rest.Name, Sentence: rest.Sentence, Source: rest.Source, Text: text}
	f := Failure{Step: r.step, Code: ExitNotSettled, from: r.initial()}
	lines := r.timeline(r.settledFrom, false)
	if first, last, ok := r.cycle(lines); ok && last <= len(lines) {
		for _, l := range lines[first-1 : last] {
			b.Cycle = append(b.Cycle, l.Records...)
		}
		slices.Sort(b.Cycle)
		lines = lines[:last]
	} else if n := len(lines); n > mostLines {
		f.from = max(f.from, lines[n-mostLines].Records[0])
	}
	b.Record = lastRecord(lines, r.t.World.History.Len()-1)
	f.Breach = b
	r.failures = append(r.failures, f)
}

// lastRecord is the last record in the last line, or otherwise when there is
// no line.
func lastRecord(lines []render.Line, otherwise int) int {
	if len(lines) == 0 {
		return otherwise
	}
	records := lines[len(lines)-1].Records
	return records[len(records)-1]
}
