package scenarios

import (
	"errors"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Script is the part of a script that can be run under any choices: its first
// steps, without those that only look.
type Script struct {
	File     *File
	Registry *Registry
	Until    int                        // the steps before this index
	Faults   map[string]int             // how many faults of each name a run may have
	Strict   bool                       // races lost are broken laws too
	Replace  map[string]host.Controller // by controller name: what runs instead
	States   bool                       // outcomes tell the final state

	laws     []string // the laws that count; all when empty
	lawsOnly bool     // what the file itself expects is not asked
	whole    bool     // no broken law ends a run
	prefer   string   // the law that is looked for, by its clause
	out      string   // the directory that failures are written to; "" for one that is not known
	mutant   string   // the one in Replace, for the file that a failure is written to

	// atOnce runs the user's actions at once, as the default run does, rather than
	// among the controllers' actions.
	atOnce bool

	bound    int    // steps that a settle may take; 0 for no other bound than any has
	idle     int    // of them without a commit
	restless bool   // the default run does not come to rest
	asked    *asked // what the runs asked of the controllers; nil where nobody wants to know
}

// program lists the steps that are run.
func (p *Script) program() []*Step { return p.File.Steps[:min(p.Until, len(p.File.Steps))] }

// mutate lets a mutant of the registry run instead of its controller. It returns
// what is wrong with the name, "" for nothing.
func (p *Script) mutate(name string) string {
	m, what := p.Registry.mutant(name)
	if what != "" {
		return what
	}
	p.mutant, p.prefer = name, m.Law
	p.Replace = inPlace(m)
	return ""
}

// Run executes the program once. It is an [explore.Program].
func (p *Script) Run(c sim.Choices) *Outcome {
	r := p.begin(c)
	r.failed.unread = true
	out := p.execute(r)
	r.t.Recycle()
	return out
}

// fit is Run, and returns why a controller cannot be run in an outcome, rather than panic: a
// schedule of many may be the first that shows it.
func (p *Script) fit(c sim.Choices) (out *Outcome) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case law.Misuse:
			out = &Outcome{Unfit: e}
		case host.Misuse:
			out = &Outcome{Unfit: e}
		default:
			panic(e)
		}
	}()
	return p.Run(c)
}

// once executes the program and keeps the run, to be looked at and stopped by
// the caller.
func (p *Script) once(c sim.Choices) (*Run, *explore.Outcome) {
	r := p.begin(c)
	return r, p.execute(r)
}

// warm decodes all manifests, which the runs of different workers then share.
func (p *Script) warm() error { return p.File.Check(p.Registry) }

// begin makes the run of one execution.
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

// execute performs the steps of the program and says what they came to.
func (p *Script) execute(r *Run) *explore.Outcome {
	over := false
	defer func() {
		if !over { // in a panic, and the caller has no run to stop
			r.abandon()
		}
	}()
	out := &explore.Outcome{Settled: true}
	var broken *explore.Finding
	for _, s := range p.program() {
		if broken = p.replay(r, s, out); broken != nil || r.course.ended || !out.Settled {
			break // of a world that does not come to rest nothing more is asked
		}
	}
	if broken == nil && !r.course.ended && out.Settled && r.settled.dirty {
		broken = r.finish(out)
	}
	if broken != nil {
		out.Findings = []explore.Finding{*broken}
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

// replay performs one step in an execution. It returns the breach that ends it.
func (p *Script) replay(r *Run, s *Step, out *explore.Outcome) *explore.Finding {
	v := s.verb
	// Single steps mean something in the default schedule only.
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
		b := &explore.Finding{Law: expectation, Text: text, Informed: true, Step: r.t.World.Steps()}
		if l := s.lawOf(); l != nil {
			b.Law, b.Text = l.ID, what
		}
		return b
	}
	err := v.run(r, s)
	var no *refused
	var e *Error
	if errors.As(err, &e) && e.Code == ExitUsage && !errors.As(err, &no) {
		r.course.ended, r.course.senseless = true, e // so is what is left of the script
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
	return r.breach()
}

// finish lets what the user still does happen, and the world come to rest.
func (r *Run) finish(out *explore.Outcome) *explore.Finding {
	r.step = nil
	how := r.settle(settleOptions{})
	out.Settled, out.Fight = out.Settled && how.Settled, out.Fight || how.Fight
	out.Cut = out.Cut || how.Fight
	return r.breach()
}

// breach is the first breach not yet accounted for.
func (r *Run) breach() *explore.Finding {
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
	return &explore.Finding{Law: b.Law.ID, Text: render.WithoutUIDs(b.Text),
		Informed: b.Strength == law.Informed, Step: step}
}
