package scenarios

import (
	"context"
	"strings"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Explore runs the first steps of a file under other schedules. until is the index of the first step that is not run. A
// negative until stands for the index of the first explore or mutant. If two runs of one schedule differ, the error is
// a [*explore.Disagreement].
func Explore(ctx context.Context, f *File, until int, g *Registry, o ExploreOptions) (*Exploration, error) {
	if until < 0 {
		until = f.scriptEnd()
	}
	p := &Script{File: f, Registry: g, Until: until, Faults: o.Faults, Strict: o.Strict,
		laws: o.Laws, lawsOnly: o.LawsOnly, out: o.Out, likely: o.Likely, interrupted: ctx.Err}
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
	if o.Mutant != "" {
		if what := p.unused(o.Mutant); what != "" {
			return nil, wrong(f.Name, 0, "", "%s", what)
		}
	}
	if o.Schedules == 0 {
		o.Schedules = 1000
	}
	p.asked = &asked{}
	if p.whole = o.Whole; p.whole || o.Said {
		p.asked.said, p.asked.beside, p.asked.alike = map[[2]string]*Said{}, map[Beside]bool{}, map[string]bool{}
	}
	if err := p.measure(o.Steps); err != nil {
		return nil, err
	}
	if p.whole && p.unsettled {
		o.Schedules = min(o.Schedules, unsettledRuns)
	}
	if o.Strategy == "exhaustive" {
		return p.exhaust(ctx, o)
	}
	x, err := p.draw(ctx, o)
	if err == nil && !o.First { // a search that stops at the first violation may not have evaluated the other laws
		x.sayHowOften()
	}
	return x, err
}

// scriptEnd returns the index of the first step whose verb is explore or mutant.
func (f *File) scriptEnd() int {
	for i, s := range f.Steps {
		if s.verb.explores {
			return i
		}
	}
	return len(f.Steps)
}

func (p *Script) draw(ctx context.Context, o ExploreOptions) (*Exploration, error) {
	strategy := explore.Mixed
	if o.Strategy != "" {
		var err error
		if strategy, err = explore.ParseStrategy(o.Strategy); err != nil {
			return nil, err
		}
	}
	c := explore.Config{New: func() explore.Runner { return p.fit }, Runs: o.Schedules, Seed: o.Seed,
		Strategy: strategy, Workers: o.Workers, All: !o.First, Double: o.Twice, Enough: o.enough, Progress: o.Progress}
	c.From, c.Runs = o.Shard.Range(o.Schedules)
	if o.Results != "" {
		return p.drawShard(ctx, c, o)
	}
	rep, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	x := &Exploration{Schedules: rep.Runs, Distinct: rep.Distinct, Failed: rep.Failed, Unsettled: rep.Unsettled,
		Outcomes: rep.Outcomes.Rows(), Fights: rep.Fights, Interrupted: rep.Interrupted, Complete: true}
	for _, row := range rep.Laws.Rows() {
		x.count((&results{program: p}).name(row.Label), row.Count)
	}
	if rep.Interrupted {
		x.stop("interrupted")
	}
	x.finish(p)
	x.Failures, err = p.shrinkAll(rep.Failures, o)
	return x, err
}

// finish adds to x what the runs exercised, and how many runs ended. Runs that do not settle (EXACT-7) count as
// unsettled, not as failed, because [ExitNotSettled] is a separate exit code.
func (x *Exploration) finish(p *Script) {
	p.asked.tell(p.File, x)
	x.Uncompared = p.uncompared()
	unsettled := 0
	for _, row := range x.Outcomes {
		switch row.Label {
		case doesNotSettle:
			unsettled = row.Count
		case "": // a step could not be executed in this schedule
		default:
			x.Ended += row.Count
		}
	}
	if c := x.Coverage; c != nil { // in an exhaustive search, Failed is the number of violated laws
		x.Unsettled = c.Livelocks + unsettled
		for _, f := range c.Failures {
			if f.Violation.Law == law.AlwaysSettles {
				x.Failed--
			}
		}
	} else {
		x.Failed -= unsettled - x.Unsettled
		x.Unsettled = unsettled
	}
	if x.Ended == 0 && x.Failed == 0 {
		x.stop("no schedule came to its end")
	}
}

func (x *Exploration) stop(why string) {
	if x.Complete = false; x.Stopped == "" {
		x.Stopped = why
	}
}

func (p *Script) exhaust(ctx context.Context, o ExploreOptions) (*Exploration, error) {
	p.States = true
	e := explore.Exhaust{Program: p.Run, MaxSteps: p.bound, MaxStates: o.States, All: !o.First, Early: o.Early,
		Fixed: p.fixed(), Progress: o.Covered, Shard: o.Shard.I, Shards: o.Shard.Of(), Stop: func() string {
			if ctx.Err() != nil {
				return "interrupted"
			}
			if o.Full != nil {
				return o.Full()
			}
			return ""
		}}
	if o.Results != "" {
		return p.exhaustShard(ctx, e, o)
	}
	c, err := e.Run()
	if err != nil {
		return nil, err
	}
	x := &Exploration{Schedules: c.Schedules, Distinct: c.Schedules, Outcomes: c.Outcomes.Rows(), Coverage: c,
		Failed: len(c.Failures), Complete: c.Complete, Stopped: c.Stopped}
	x.finish(p)
	x.Failures, err = p.shrinkAll(c.Failures, o)
	return x, err
}

// fixed lists what is the same in all schedules, such as the order of the user's actions, and faults without a budget.
func (p *Script) fixed() []string {
	list := []string{"the order of the user's own actions"}
	quiet, multiple := false, false
	for _, s := range p.program() {
		quiet = quiet || s.verb.settles && s.Has("quiet")
		multiple = multiple || s.verb == verbControllers
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

// A random run takes more steps than the default run, because it repeats work, for example after a crash. It counts as
// not settling after 30 times the steps of the default run, plus 20,000 steps for retries.
const (
	drawnTimes = 30
	drawnMore  = 20_000
	givenTimes = 3 // replaces drawnTimes if the option Steps is set, because steps of programs are slow
	idleTimes  = 4 // like drawnTimes, but for steps without a commit; no program needs 30 times as many reads
	idleMore   = 2_000
	idleShare  = 3 // a third of the option Steps may be steps without a commit, because programs poll
)

// unsettledRuns is the maximal number of schedules if Whole is set and the default schedule does not settle, because
// each run then takes the maximal number of steps.
const unsettledRuns = 2

// measure runs the default schedule, and sets how many steps other runs may take. more is the option Steps. It returns
// an error if a step cannot be executed in the default schedule: all runs would end at that step without a violation.
func (p *Script) measure(more int) error {
	times, idle := givenTimes, max(idleMore, more/idleShare)
	if more == 0 {
		times, more = drawnTimes, drawnMore
	}
	p.bound, p.idle = more, idle
	r, out := p.once(sim.Zero{})
	defer r.stop()
	if r.course.senseless != nil {
		return r.course.senseless
	}
	p.unsettled = !out.Settled
	if out.Settled {
		p.bound, p.idle = times*out.Steps+more, max(idle, min(idleTimes*out.Steps+idleMore, maxIdleDrawn))
	}
	return nil
}
