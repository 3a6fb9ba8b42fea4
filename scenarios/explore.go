package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// ExploreOptions say how a file is explored.
type ExploreOptions struct {
	Schedules int            // how many; 0 means 1000
	Strategy  string         // mix, random, pct, exhaustive; "" means mix
	Seed      uint64         // of the choices
	Faults    map[string]int // how many faults of each name a run may have
	Strict    bool           // races lost are broken laws
	Mutant    string         // runs instead of its controller; "" for none
	LawsOnly  bool           // what the file itself expects is not asked: it may say so of no faults
	Laws      []string       // the laws that count; all when empty
	States    int            // exhaustive: a bound; 0 for none
	Early     int            // exhaustive: how many timers of a run may fire before their time
	Workers   int            // 0 means all cores; 1 for the same order of memory
	First     bool           // stop at the first broken law
	Budget    int            // executions that making a failure small may take; 0 means 2000

	Progress func(explore.Progress) // for drawn schedules
	Covered  func(*explore.Coverage)

	_ struct{}
}

// Exploration is what an exploration came to. It encodes to JSON.
type Exploration struct {
	Schedules int               `json:"schedules"`
	Distinct  int               `json:"distinct"`
	Failed    int               `json:"failed"`    // schedules that broke a law
	Unsettled int               `json:"unsettled"` // schedules that did not settle and broke no other law
	Outcomes  []explore.Row     `json:"outcomes"`
	Coverage  *explore.Coverage `json:"coverage,omitempty"` // exhaustive only
	Report    *explore.Report   `json:"-"`
	Failures  []*Counterexample `json:"failures,omitempty"` // the first of each law
	Wrote     map[string]bool   `json:"wrote"`              // the controllers that wrote something in some schedule
	Rested    map[string]bool   `json:"rested"`             // those with an object of their kind in a world that came to rest
	Vain      []Vain            `json:"vain,omitempty"`     // what the user did in vain, in every schedule
}

// Counterexample is a schedule that broke a law, made small.
type Counterexample struct {
	Law      string       `json:"law"`
	Text     string       `json:"text"`
	Index    int          `json:"index"` // of the schedule that broke it first
	Strategy string       `json:"strategy"`
	Small    string       `json:"small"` // how small it is
	Page     *render.Page `json:"page"`
	File     []byte       `json:"-"` // a scenario file that replays it
}

// Explore runs the steps of a file before index until under other schedules.
// A negative index means all up to the first explore or mutant. The error is a
// [*explore.Disagreement] when two runs of one schedule differ.
func Explore(ctx context.Context, f *File, until int, g *Registry, o ExploreOptions) (*Exploration, error) {
	if until < 0 {
		until = f.scriptEnd()
	}
	p := &Script{File: f, Registry: g, Until: until, Faults: o.Faults, Strict: o.Strict, Laws: o.Laws, LawsOnly: o.LawsOnly}
	if o.Mutant != "" {
		if what := p.mutate(o.Mutant); what != "" {
			return nil, wrong(f.Name, 0, "", "%s", what)
		}
	}
	for _, l := range o.Laws {
		if _, what := g.law(l); what != "" {
			return nil, wrong(f.Name, 0, "", "%s", what)
		}
	}
	if err := p.warm(); err != nil {
		return nil, err
	}
	if o.Schedules == 0 {
		o.Schedules = 1000
	}
	p.asked = &asked{}
	if err := p.measure(); err != nil {
		return nil, err
	}
	if o.Strategy == "exhaustive" {
		return p.exhaust(ctx, o)
	}
	return p.draw(ctx, o)
}

// scriptEnd is the index of the first step that explores.
func (f *File) scriptEnd() int {
	for i, s := range f.Steps {
		if FindVerb(s.Verb).explores {
			return i
		}
	}
	return len(f.Steps)
}

// A drawn run takes more steps than the default one: what it does twice, and what
// a crash has it do again. One that takes this many times as many, and a
// thousand or so for a retry that the default run never needs, does not settle.
const (
	drawnTimes = 30
	drawnMore  = 20_000
	idleTimes  = 4 // the same for steps without a commit: nobody has so much to look at
	idleMore   = 2_000
)

// measure bounds the runs by what the default schedule needs. Where that does not
// come to rest it says nothing of what is needed, and few runs will. A script that
// makes no sense in that one is an error: its runs would end there, and break nothing.
func (p *Script) measure() error {
	p.bound, p.idle = drawnMore, idleMore
	r, out := p.once(sim.Zero{})
	defer r.Stop()
	if r.senseless != nil {
		return r.senseless
	}
	if out.Settled {
		p.bound, p.idle = drawnTimes*out.Steps+drawnMore, min(idleTimes*out.Steps+idleMore, maxIdleDrawn)
	}
	return nil
}

// warm decodes all manifests, which the runs of different workers then share.
func (p *Script) warm() error { return p.File.Check(p.Registry) }

func (p *Script) draw(ctx context.Context, o ExploreOptions) (*Exploration, error) {
	strategy := explore.Mixed
	if o.Strategy != "" {
		var err error
		if strategy, err = explore.ParseStrategy(o.Strategy); err != nil {
			return nil, err
		}
	}
	c := explore.Config{New: func() explore.Program { return p.Run }, Runs: o.Schedules, Seed: o.Seed, Strategy: strategy,
		Workers: o.Workers, All: !o.First, Progress: o.Progress}
	rep, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	x := &Exploration{Schedules: rep.Runs, Distinct: rep.Distinct, Failed: rep.Failed, Unsettled: rep.Unsettled,
		Outcomes: rep.Outcomes.Rows(), Report: rep}
	x.finish(p)
	x.Failures, err = p.shrinkAll(rep.Failures, o)
	return x, err
}

// finish says what was asked, and counts apart what broke EXACT-7 alone: the
// schedules that did not settle have an exit code of their own.
func (x *Exploration) finish(p *Script) {
	p.asked.tell(p.File, x)
	unsettled := 0
	for _, row := range x.Outcomes {
		if row.Label == doesNotSettle {
			unsettled = row.Count
		}
	}
	if c := x.Coverage; c != nil { // which counts failures by law
		x.Unsettled = c.Livelocks + unsettled
		for _, f := range c.Failures {
			if f.Breach.Law == law.ComeToRest {
				x.Failed--
			}
		}
		return
	}
	x.Failed -= unsettled - x.Unsettled
	x.Unsettled = unsettled
}

func (p *Script) exhaust(ctx context.Context, o ExploreOptions) (*Exploration, error) {
	p.States = true
	e := explore.Exhaust{Program: p.Run, MaxSteps: p.bound, MaxStates: o.States, All: !o.First, Early: o.Early,
		Fixed: p.fixed(), Stop: func() bool { return ctx.Err() != nil }, Progress: o.Covered}
	c, err := e.Run()
	if err != nil {
		return nil, err
	}
	x := &Exploration{Schedules: c.Schedules, Distinct: c.Schedules, Outcomes: c.Outcomes.Rows(), Coverage: c, Failed: len(c.Failures)}
	x.finish(p)
	x.Failures, err = p.shrinkAll(c.Failures, o)
	return x, err
}

// fixed names what no schedule of the script varies.
func (p *Script) fixed() []string {
	list := []string{"the order of the user's own actions"}
	quiet, multiple := false, false
	for _, s := range p.File.Steps[:min(p.Until, len(p.File.Steps))] {
		quiet = quiet || s.Verb == verbSettle.Name && s.Has("quiet")
		multiple = multiple || s.Verb == verbControllers.Name
	}
	if quiet {
		list = append(list, "settles that are quiet")
	}
	if multiple {
		list = append(list, "how many workers a controller has")
	}
	var without []string
	for _, name := range host.FaultNames {
		if p.Faults[name] == 0 {
			without = append(without, name)
		}
	}
	if len(without) > 0 {
		list = append(list, "the faults "+strings.Join(without, ", "))
	}
	return list
}

// shrinkBudget is how many executions making a failure small may take.
const shrinkBudget = 2000

// shrinkAll makes the first failure of each law small, and the others as they
// are.
func (p *Script) shrinkAll(failures []explore.Failing, o ExploreOptions) ([]*Counterexample, error) {
	var all []*Counterexample
	for i := range failures {
		budget := o.Budget
		if budget == 0 {
			budget = shrinkBudget
		}
		f, err := p.shrink(&failures[i], budget)
		if err != nil {
			return all, err
		}
		all = append(all, f)
	}
	return all, nil
}

// shrink makes a failure small and writes it down as a scenario file.
func (p *Script) shrink(f *explore.Failing, budget int) (*Counterexample, error) {
	parts := p.parts(f.Breach)
	small, err := explore.Shrink(p.subject(parts, f), f.Breach, f.Schedule, budget)
	if err != nil {
		return nil, err
	}
	q := *p
	q.File = p.File.without(parts, small.Removed)
	q.Until = p.Until - countSteps(parts, small.Removed)
	run, out := q.once(explore.Follow(small.Schedule))
	defer run.Stop()
	failed := run.lastFailure()
	if len(out.Findings) == 0 || failed == nil {
		return nil, errors.New("the run made small does not break " + f.Breach.Law + " again")
	}
	page := run.Page(failed)
	page.Small = smallness(small, f)
	failing := &Counterexample{Law: run.lawName(small.Breach.Law), Text: small.Breach.Text, Index: f.Index, Strategy: f.Strategy,
		Small: page.Small, Page: page}
	failing.File, err = q.counterexampleFile(failing, small, failed.Step)
	return failing, err
}

// smallness says how small a failure is: the step at which it fails, now and as
// it was found, and whether any single object, action of the user, fault or
// choice can still be left out.
func smallness(s *explore.Shrunk, f *explore.Failing) string {
	text := fmt.Sprintf("fails at step %d, found at %d; %d of %d choices differ from the default schedule",
		failsAt(s.Breach, s.Outcome), failsAt(f.Breach, f.Outcome), s.Schedule.Deviations(), len(s.Schedule))
	if n := s.Schedule.Faults(); n > 0 {
		text += "; " + plural(n, "fault")
	}
	if !s.Minimal {
		return text + "; not minimal"
	}
	return text + "; minimal"
}

// failsAt is the step of a breach.
func failsAt(b explore.Finding, out *explore.Outcome) int {
	if b.Step > 0 {
		return b.Step
	}
	return out.Steps
}

// Shrink makes a failing run of the program small and writes it down as a
// scenario file. The outcome has a breach; the schedule is what was decided.
func (p *Script) Shrink(out *explore.Outcome, schedule explore.Schedule) (*Counterexample, error) {
	if err := p.warm(); err != nil {
		return nil, err
	}
	return p.shrink(&explore.Failing{Breach: out.Findings[0], Outcome: out, Schedule: schedule}, shrinkBudget)
}
