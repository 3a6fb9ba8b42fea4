package scenarios

import (
	"slices"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

var verbMutant = &Verb{
	Name: "mutant", Args: "NAME [schedules=N] [seed=N] [faults=NAME:N,...] [laws=LAW,...] [--strict]", Min: 1, Max: 1,
	Summary: "run the file so far with one guard removed: a law must break",
	Detail: `The mutant runs in place of its controller, first in the default schedule, then
in N others (500 without it). Prints the law that kills it and what led there. A mutant that
breaks no law is a failure.`,
	Example: "mutant replicaset/skip-recheck",
	Params: []Param{
		{Name: "schedules", Summary: "how many to try; 500 without it"},
		{Name: "seed", Summary: "of the choices; 1 without it"},
		{Name: "faults", Summary: "how many faults of each name a run may have"},
		{Name: "laws", Summary: "only these laws count: for a law that another one always breaks with"},
		{Name: "strict", Summary: "races lost are broken laws", Values: []string{"true", "false"}},
	},
	explores: true,
	check: func(c *checker, s *Step) error {
		if _, what := c.registry.mutant(s.Word(0)); what != "" {
			return s.wrong("%s", what)
		}
		_, err := s.ExploreOptions()
		return err
	},
	run: func(r *Run, s *Step) error {
		o, err := s.ExploreOptions()
		if err != nil {
			return err
		}
		k, err := Kill(r.file, slices.Index(r.file.Steps, s), r.Registry, s.Word(0), o)
		if err != nil {
			return err
		}
		r.printf("%s", k.Text())
		if k.Law == "" {
			return s.fail(ExitFail, "the mutant survived %s", plural(k.Tried, "schedule"))
		}
		return nil
	},
}

// Killed is how a mutant died.
type Killed struct {
	Mutant string        `json:"mutant"`
	Law    string        `json:"law"` // "" when it survived
	Why    string        `json:"why,omitempty"`
	Step   int           `json:"step,omitempty"` // line of the timeline
	Tried  int           `json:"tried"`          // schedules, the default one included
	Lines  []render.Line `json:"lines,omitempty"`
	Page   *render.Page  `json:"page,omitempty"`
}

// Text renders it as it stands beneath the verb.
func (k *Killed) Text() string {
	if k.Law == "" {
		return "survived " + plural(k.Tried, "schedule") + "\n"
	}
	if k.Page == nil {
		return "killed by " + k.Law + ": " + k.Why + "\n"
	}
	return "killed by " + k.Law + " at step " + itoa(k.Step) + "\n" + tail(k.Lines)
}

// tail renders the last lines of a timeline.
func tail(lines []render.Line) string {
	const most = 8
	if len(lines) > most {
		return "  ...\n" + render.Text(lines[len(lines)-most:])
	}
	return render.Text(lines)
}

// Kill runs the steps of a file before index until with a mutant in place of
// its controller, in the default schedule and then in others, until a law
// breaks. A negative index means all up to the first explore or mutant.
func Kill(f *File, until int, g *Registry, mutant string, o ExploreOptions) (*Killed, error) {
	m, what := g.mutant(mutant)
	if what != "" {
		return nil, wrong(f.Name, 0, "", "%s", what)
	}
	if until < 0 {
		until = f.scriptEnd()
	}
	p := &Script{File: f, Registry: g, Until: until, Strict: o.Strict, Laws: o.Laws, Default: true, prefer: m.Law,
		Replace: inPlace(m)}
	k := &Killed{Mutant: mutant}
	if p.kill(k, sim.Zero{}) {
		return k, nil
	}
	p.Default, p.Faults = false, o.Faults
	plan := explore.Plan{Strategy: explore.Mixed, Seed: o.Seed, Steps: 200}
	for i := range o.Schedules {
		c, _ := plan.At(i)
		if p.kill(k, c) {
			return k, nil
		}
	}
	return k, nil
}

// kill runs the mutant once and reports whether it died.
func (p *Script) kill(k *Killed, c sim.Choices) bool {
	k.Tried++
	run, out := p.once(c)
	defer run.Stop()
	if len(out.Findings) == 0 {
		if out.Settled {
			return false
		}
		k.Law, k.Why = "nofight", "it does not settle"
		return true
	}
	b := out.Findings[0]
	k.Law, k.Why = run.lawName(b.Law), b.Text
	if b.Law == "expect" {
		return true
	}
	k.Page = run.Page(run.lastFailure())
	k.Lines, k.Step = k.Page.Lines, k.Page.Step()
	return true
}
