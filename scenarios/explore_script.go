package scenarios

import (
	"errors"
	"time"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Script consists of the first steps of a scenario file, without steps that only read. It can be run under any choices.
type Script struct {
	File     *File
	Registry *Registry
	Until    int                        // the index of the first step that is not part of the script
	Faults   map[string]int             // the maximal number of faults in a run, by the fault's name
	Strict   bool                       // a violation counts even if the process could not know of it (a lost race)
	Replace  map[string]host.Controller // controller name -> the controller that runs instead
	States   bool                       // outcomes contain the final state

	laws     []string // the names of the laws that count; empty means all laws
	lawsOnly bool     // ignore the file's expectations
	whole    bool     // runs do not end at violations
	prefer   string   // the ID of the law to report if several are violated at once; "" for the first
	out      string   // the directory for failures; "" if unknown
	mutant   string   // the name of the mutant in Replace, for failure files

	// atOnce executes the user's actions at once, as in the default run. Otherwise they race with the controllers.
	atOnce bool

	bound       int           // the maximal number of steps in a settle; 0 means the default
	idle        int           // the maximal number of steps without a commit; 0 means the default
	unsettled   bool          // the default run did not settle
	likely      time.Duration // the real time for measuring how likely a failure is after each step; 0 for none
	interrupted func() error  // returns an error if likelihood must end early; set if likely is
	asked       *asked        // records what the runs exercise; nil if not needed
}

func (p *Script) program() []*Step { return p.File.Steps[:min(p.Until, len(p.File.Steps))] }

// mutate replaces a controller by a mutant of the registry. It returns the text of an error, or "".
func (p *Script) mutate(name string) string {
	m, what := p.Registry.mutant(name)
	if what != "" {
		return what
	}
	p.mutant, p.prefer = name, m.Law
	p.Replace = inPlace(m)
	return ""
}

// Run executes the script once. It implements [explore.Runner].
func (p *Script) Run(c sim.Choices) *explore.Outcome {
	r := p.begin(c)
	r.failed.unread = true
	out := p.execute(r)
	r.t.Recycle()
	return out
}

// fit does the same as Run, but it does not panic if a controller cannot be run. Then it returns the reason in the
// outcome. A late schedule can be the first to show the reason.
func (p *Script) fit(c sim.Choices) (out *explore.Outcome) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case law.Misuse:
			out = &explore.Outcome{Unfit: e}
		case host.Misuse:
			out = &explore.Outcome{Unfit: e}
		default:
			panic(e)
		}
	}()
	return p.Run(c)
}

// once executes the script and returns the run, which the caller must stop.
func (p *Script) once(c sim.Choices) (*Run, *explore.Outcome) {
	r := p.begin(c)
	return r, p.execute(r)
}

// warm decodes all manifests before the workers start, because their runs share the result.
func (p *Script) warm() error { return p.File.Check(p.Registry) }

func (p *Script) begin(c sim.Choices) *Run {
	r := newRun(p.Registry, p.File)
	r.quiet, r.stale, r.replace = true, p.File.restartsStale(), p.Replace
	r.counting.strict, r.counting.prefer, r.compare = p.Strict, p.prefer, compareEnds
	r.course = course{choices: c, races: !p.atOnce, faults: p.Faults, steps: p.bound, idle: p.idle}
	if p.asked != nil {
		r.tried = p.asked.tried
	}
	if len(p.laws) > 0 {
		_ = r.judgeBy(p.laws)
	}
	if p.whole {
		r.counting.narrow(map[*law.Law]bool{})
	}
	return r
}

func (p *Script) execute(r *Run) *explore.Outcome {
	over := false
	defer func() {
		if !over { // after a panic, no caller stops the run
			r.abandon()
		}
	}()
	out := &explore.Outcome{Settled: true}
	var broken *explore.Violation
	for _, s := range p.program() {
		if broken = p.replay(r, s, out); broken != nil || r.course.ended || !out.Settled {
			break // a world that did not settle is not checked further
		}
	}
	if broken == nil && !r.course.ended && out.Settled && r.settled.dirty {
		broken = r.finish(out)
	}
	if broken != nil {
		out.Findings = []explore.Violation{*broken}
	}
	w := r.t.World
	out.Steps, out.Hash = w.Steps(), w.Hash()
	if p.States {
		out.State = w.StateHash()
	}
	if !r.course.ended {
		out.Label = r.label(out)
	}
	if p.asked != nil {
		p.asked.note(r)
	}
	over = true
	return out
}

// replay executes a step in an explored run. It returns the violation that ends the run, or nil.
func (p *Script) replay(r *Run, s *Step, out *explore.Outcome) *explore.Violation {
	v := s.verb
	// Steps with the verb "step" make sense only in the default schedule.
	if !v.replayed() && (v != verbStep || r.course.races) {
		return nil
	}
	r.step = s
	r.out.Reset()
	if p.lawsOnly && v.expects != nil || p.whole && v == verbJudge {
		return nil
	}
	if v.expects != nil {
		what := v.expects(r, s)
		if (what != "") == s.Expect {
			return nil
		}
		if s.Expect {
			what = "it holds"
		}
		text := s.String() + ": " + what
		r.failExpect(text)
		b := &explore.Violation{Law: expectation, Text: text, Informed: true, Step: r.t.World.Steps()}
		if l := s.lawOf(); l != nil {
			b.Law, b.Text = l.ID, what
		}
		return b
	}
	var err error
	if r.begins != nil {
		err = r.begins()
	}
	if err == nil {
		err = v.run(r, s)
	}
	var no *refused
	var e *Error
	if errors.As(err, &e) && e.Code == ExitUsage && !errors.As(err, &no) {
		r.course.ended, r.course.senseless = true, e // the steps after this one cannot be executed
		return nil
	}
	if v.settles {
		how := r.settled.how
		out.Settled = out.Settled && (how.Settled || s.Expect)
		out.Fight = out.Fight || how.Fight && !s.Expect
		out.Cut = out.Cut || how.Fight
	}
	if s.Expect {
		r.counting.accept()
		return nil
	}
	return r.violation()
}

// finish executes the remaining user actions, and runs the world until it has settled.
func (r *Run) finish(out *explore.Outcome) *explore.Violation {
	r.step = nil
	how := r.settle(settleOptions{})
	out.Settled, out.Fight = out.Settled && how.Settled, out.Fight || how.Fight
	out.Cut = out.Cut || how.Fight
	return r.violation()
}

// violation returns the first violation since the last call of accept that makes the run fail, or nil.
func (r *Run) violation() *explore.Violation {
	b := r.counting.pending()
	r.counting.accept()
	if b == nil {
		return nil
	}
	r.breaks(b)
	step := 0
	if rec := r.t.World.History.At(b.Record); rec != nil {
		step = rec.Step
	}
	return &explore.Violation{Law: b.Law.ID, Text: render.WithoutUIDs(b.Text),
		Informed: b.Strength == law.Informed, Step: step, Cause: r.cause(b)}
}
