package scenarios

import (
	"strconv"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/sim"
)

// Killed is the result of running a mutant.
type Killed struct {
	Mutant string        `json:"mutant"`
	Law    string        `json:"law"` // the violated law; "" if the mutant survived
	Why    string        `json:"why,omitempty"`
	Step   int           `json:"step,omitempty"` // the number of the violating line on Page
	Tried  int           `json:"tried"`          // number of schedules, including the default one
	Lines  []render.Line `json:"lines,omitempty"`
	Page   *render.Page  `json:"page,omitempty"`
}

// Text formats the result as the verb's output.
func (k *Killed) Text() string {
	if k.Law == "" {
		return "survived " + plural(k.Tried, "schedule") + "\n"
	}
	if k.Page == nil {
		return "killed by " + k.Law + ": " + k.Why + "\n"
	}
	return "killed by " + k.Law + " at step " + strconv.Itoa(k.Step) + "\n" + tail(k.Lines)
}

func tail(lines []render.Line) string {
	const most = 8
	if len(lines) > most {
		return "  ...\n" + render.Text(lines[len(lines)-most:])
	}
	return render.Text(lines)
}

// Kill runs the first steps of a file, with a mutant in place of its controller. until is the index of the first step
// that is not run. A negative until stands for the index of the first explore or mutant. Kill runs the default schedule
// and then others, until a law is violated.
func Kill(f *File, until int, g *Registry, mutant string, o ExploreOptions) (*Killed, error) {
	m, what := g.mutant(mutant)
	if what != "" {
		return nil, wrong(f.Name, 0, "", "%s", what)
	}
	line := 0
	if until >= 0 {
		line = f.Steps[until].Line
	} else {
		until = f.scriptEnd()
	}
	for _, l := range o.Laws {
		if _, what := g.law(l); what != "" {
			return nil, wrong(f.Name, line, "", "%s", what)
		}
	}
	p := &Script{File: f, Registry: g, Until: until, Strict: o.Strict, laws: o.Laws, lawsOnly: len(o.Laws) > 0,
		atOnce: true, prefer: m.Law, Replace: inPlace(m)}
	k := &Killed{Mutant: mutant}
	if p.kill(k, sim.Zero{}) {
		return k, nil
	}
	if what := p.unused(mutant); what != "" {
		return nil, wrong(f.Name, line, "", "%s", what)
	}
	p.atOnce, p.Faults = false, o.Faults
	plan := explore.Plan{Strategy: explore.Mixed, Seed: o.Seed, Steps: 200}
	for i := range o.Schedules {
		c, _ := plan.At(i)
		if p.kill(k, c) {
			return k, nil
		}
	}
	return k, nil
}

// unused returns an error text if the mutant's controller does not run in the default schedule, otherwise "". Without
// that controller, a pass proves nothing.
func (p *Script) unused(mutant string) string {
	run, out := p.once(sim.Zero{})
	defer run.stop()
	if run.replaced || len(out.Findings) > 0 {
		return ""
	}
	for name, c := range p.Replace { // the map has one entry
		if c.Era != "" {
			name += "@" + c.Era
		}
		return mutant + " stands in for " + name + ", which the file does not run"
	}
	return ""
}

// kill runs the mutant under one schedule. It reports whether a law was violated, or, without lawsOnly, whether the
// world did not settle.
func (p *Script) kill(k *Killed, c sim.Choices) bool {
	k.Tried++
	run, out := p.once(c)
	defer run.stop()
	if len(out.Findings) == 0 {
		if out.Settled || p.lawsOnly {
			return false
		}
		k.Law, k.Why = "nofight", "it does not settle"
		return true
	}
	b := out.Findings[0]
	k.Law, k.Why = run.lawName(b.Law), b.Text
	if b.Law == expectation {
		return true
	}
	k.Page = run.Page(run.failed.last())
	k.Lines, k.Step = k.Page.Lines, k.Page.Step()
	return true
}
