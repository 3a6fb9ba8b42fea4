package simtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/casefile"
	"github.com/threelaws/threelaws/sim/host"
)

// Case is a world in which controllers are tried: what it holds, what runs in
// it, what the user does meanwhile, and what must be so in the end; see
// [casefile.Case] for its fields. [Check] runs it under many schedules and holds
// each to the laws.
type Case casefile.Case

// Action is one thing the user does: a line of a scenario file, manifests that are
// applied, or a function.
type Action = casefile.Action

// Verb is an action written as a line of a scenario file.
func Verb(line string) Action { return casefile.Verb(line) }

// Apply is an action that creates the objects of manifests, or merges them into those
// that exist: an owner that is made again under its name.
func Apply(manifests string) Action { return casefile.Apply(manifests) }

// Do is an action written in Go. The name is one word and stands for it in
// schedules and in files.
func Do(name string, f func(user host.Client) error) Action { return casefile.Do(name, f) }

func (c *Case) plain() *casefile.Case { return (*casefile.Case)(c) }

// Registry is what the case's files may name: its controllers and functions, and
// all of this module's.
func (c *Case) Registry() *scenarios.Registry { return c.plain().Registry() }

// File compiles the case. The error is a mistake in it, told by the field it
// stands in: "User[0]: unknown verb delte; did you mean delete?".
func (c *Case) File(name string) (*scenarios.File, error) { return c.plain().File(name) }

// Unasked says what an exploration that broke nothing did not ask, a line each; see
// [casefile.Case.Unasked].
func (c *Case) Unasked(x *scenarios.Exploration) []string { return c.plain().Unasked(x) }

// Spared says what else no schedule of an exploration asked, a line each; see
// [casefile.Case.Spared].
func (c *Case) Spared(x *scenarios.Exploration) []string { return c.plain().Spared(x) }

// Explore draws or enumerates the case's schedules and says what they came to. It
// is what [Check] does, for whoever wants to judge the outcome himself. The error
// is a mistake in the case, or a run that is no function of its schedule.
func (c *Case) Explore(ctx context.Context, name string) (*scenarios.Exploration, error) {
	return c.exploreWith(ctx, name, scenarios.ExploreOptions{})
}

// exploreWith explores with the options that the flags do not say.
func (c *Case) exploreWith(ctx context.Context, name string, o scenarios.ExploreOptions) (*scenarios.Exploration, error) {
	o.Seed, o.Schedules = *seed, *schedules
	if *exhaustive {
		o.Strategy = "exhaustive"
	}
	x, err := c.plain().Explore(ctx, name, o)
	return x, c.drawn(err)
}

// drawn adds to two runs that differ what may be done about it, where a whole program may have
// drawn what it did.
func (c *Case) drawn(err error) error {
	program := func(k host.Controller) bool { return k.Hosted() }
	if d := (*explore.Disagreement)(nil); !errors.As(err, &d) || !slices.ContainsFunc(c.Controllers, program) {
		return err
	}
	return fmt.Errorf("%w (without the overlay, client-go's caches list in the order of a map and its informers draw which "+
		"handler runs first: run the test by threelaws test, or use bubble.NewInformer or bubble.Informers)", err)
}
