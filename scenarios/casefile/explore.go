package casefile

import (
	"context"
	"strings"
	"time"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Explore runs the schedules of the case, random or exhaustive. The faults and Strict come from the case, not from o.
// The number of schedules comes from the case if o has none. name is the file's name in messages and output. An error
// is a mistake in the case, or two runs of one schedule that differ.
func (c *Case) Explore(ctx context.Context, name string, o scenarios.ExploreOptions) (
	x *scenarios.Exploration, err error,
) {
	f, t, err := c.compile(name)
	if err != nil {
		return nil, err
	}
	if o.Schedules == 0 {
		o.Schedules = c.Schedules
		if c.Exhaustive && o.Strategy == "" {
			o.Strategy = "exhaustive"
		}
	}
	if c.Time > 0 && o.Enough == nil {
		until := time.Now().Add(c.Time)
		o.Enough = func(drawn int) bool { return drawn > 0 && time.Now().After(until) }
	}
	o.Faults, o.Strict, o.Said = c.Faults, c.Strict, true
	defer catch(&err) // scenarios.Explore panics if a mistake shows in the default schedule
	x, err = scenarios.Explore(ctx, f, len(f.Steps), c.Registry(), o)
	if err != nil {
		return nil, t.explain(err)
	}
	for i, v := range x.Vain {
		if at := t.at(f.Steps[v.Step].Line); at != nil {
			x.Vain[i].Text = at.name + ": " + v.Text
		}
	}
	return x, nil
}

// Script returns the case as a script that can be run under any choices.
func (c *Case) Script(name string) (*scenarios.Script, error) {
	f, err := c.File(name)
	if err != nil {
		return nil, err
	}
	return &scenarios.Script{File: f, Registry: c.Registry(), Until: len(f.Steps), Faults: c.Faults,
		Strict: c.Strict}, nil
}

// Catch calls f. If f panics because a controller cannot run, Catch returns the panic as an error.
func (c *Case) Catch(f func()) (err error) {
	defer catch(&err)
	f()
	return nil
}

func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case law.Misuse:
		*err = mistake("%s", r.Error())
	case host.Misuse:
		*err = mistake("%s", strings.TrimPrefix(r.Error(), "host: "))
	default:
		panic(r)
	}
}
