package check

import (
	"context"
	"slices"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// Plan is what a controller is tried in.
type Plan struct {
	Controller host.Controller // with what was found out where it did not say so itself
	Profile    law.Profile     // what it is held to
	Cases      []Case
	Restless   bool     // the controller does not settle with the sample alone: hardly a case can tell more
	Notes      []string // what was left out of the subject, and why

	subject *subject
	found   *found
}

// Case is a world in which the controller is tried.
type Case struct {
	Name string // "recreated/orphan"
	Skip string // why it makes no sense for this controller; "" where it does

	place *place
	plan  *Plan
}

// Tried is a case with what came of it.
type Tried struct {
	Name string
	X    *scenarios.Exploration // nil for a case that was not tried

	Known []Known // violations that are not among X.Failures
}

// Known is a violation that is accepted.
type Known struct{ Law, Reason string }

// Prepare looks at a subject, watches the controller in quiet worlds and derives its cases. The error is a mistake
// in the subject or a controller that does nothing for the sample, in one line, or the end of the context, which is
// looked at before each quiet world.
func Prepare(ctx context.Context, given Subject) (*Plan, error) {
	s, err := load(ctx, given)
	if err != nil {
		return nil, err
	}
	f, err := s.find()
	if err != nil {
		return nil, err
	}
	p := &Plan{Controller: f.declared(s), Profile: law.Profile(s.Profile), Restless: f.restless, Notes: s.notes,
		subject: s, found: f}
	places := f.worlds(s)
	for i := range places {
		c := Case{places[i].name, places[i].why, &places[i], p}
		if reason := s.Skip[c.Name]; reason != "" {
			c.Skip = reason
		}
		p.Cases = append(p.Cases, c)
	}
	return p, nil
}

// find is look, with a controller that is wired wrongly told as an error.
func (s *subject) find() (f *found, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case host.Misuse:
			err = r
		case law.Misuse:
			err = r
		default:
			panic(r)
		}
	}()
	return s.look()
}

// Rehearse returns a function that runs a world with the sample alone, in the schedule of a seed, and returns what the
// program wrote and the hash of the run. Seed 0 is the default schedule; the others have faults. Its first argument hosts
// the program. One goroutine at a time may call it.
func (p *Plan) Rehearse() func(hosting func(host.Controller) host.Controller, seed uint64) (wrote string, hash uint64) {
	s := *p.subject
	s.server = s.server.Fork()
	return func(hosting func(host.Controller) host.Controller, seed uint64) (wrote string, hash uint64) {
		of := s
		c := hosting(p.Controller)
		of.start = func(t *trial.Trial, name string) *host.Process { return t.Start(name, c) }
		var choices sim.Choices
		var faults map[string]int
		if seed != 0 {
			choices, faults = sim.NewSeed(seed), map[string]int{"crash": 1, "conflict": 1, "lost": 1, "stale": 1, "relist": 1}
		}
		r, err := of.drawn(append(slices.Clone(of.around), of.owner), choices, faults)
		if err != nil { // the context has ended
			return "", 0
		}
		defer r.Stop()
		for _, rec := range r.writes() {
			wrote += rec.Verb + " " + rec.Object.String() + "\n"
		}
		return wrote, r.World.Hash()
	}
}

// String is what quiet runs show of the controller, as it is printed.
func (p *Plan) String() string { return p.found.text(p.subject) }

// World is the case as it is explored, under the laws that are left after the cases before it.
func (c *Case) World(before []Tried) *casefile.Case {
	w := c.place.whole(c.plan.subject, c.plan.Controller)
	s := c.plan.subject
	w.Laws = s.asks(before, &w.Controllers[0].Contract)
	told := s.told(before)
	w.Invariants = slices.DeleteFunc(slices.Clone(w.Invariants), func(v *law.Invariant) bool {
		return slices.Contains(told, v.ID)
	})
	// What is known to be wrong may be why worlds end in different ways.
	w.SameEnd = w.SameEnd && c.plan.subject.lasts == 0 && !slices.ContainsFunc(before, func(t Tried) bool {
		return len(t.Known) > 0 || t.X != nil && len(t.X.Failures) > 0
	})
	return &w
}
