// Package simtest tests controllers in go test. Begin with [Check] and [Case]. A Case describes a world in Go. Check
// runs it under many schedules, and checks each run against the laws. A failure is minimized, printed, and written to a
// scenario file. The next test first replays this file.
//
//	func TestKeeper(t *testing.T) {
//		simtest.Check(t, simtest.Case{
//			Controllers: []host.Controller{keeper},
//			With:        []string{"gc"},
//			World:       "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
//			User:        []simtest.Action{simtest.Verb("label cm/a tier=front")},
//		})
//	}
//
// [Case.Property] and [Case.Fuzz] run the same case with rapid and with Go's fuzzer. [Case.Explore] returns the result
// without failing a test.
//
// Import it only in tests, because it links rapid, which registers flags.
//
// # Where to go next
//
// Package sim/host defines controllers. docs/use/go-test.md shows a whole test and its failure. docs/use/scenarios.md
// describes the files of failures. With package cli you can build a command that replays these files.
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

// Case describes a world in which controllers are tested. Its fields are those of [casefile.Case]. [Check] runs it
// under many schedules, and checks each run against the laws.
type Case casefile.Case

// Action is one action of the user: a line of a scenario file, manifests to apply, or a function.
type Action = casefile.Action

// Verb returns an action that is written as a line of a scenario file.
func Verb(line string) Action { return Action{Verb: line} }

// Apply returns an action that creates the objects of manifests, or merges them into existing objects. It can also
// recreate a deleted owner.
func Apply(manifests string) Action { return Action{Manifests: manifests} }

// Do returns an action that is written in Go. The name is one word, which is used in schedules and files.
func Do(name string, f func(user host.Client) error) Action { return Action{Name: name, Do: f} }

func (c *Case) plain() *casefile.Case { return (*casefile.Case)(c) }

// Registry returns what the case's file may use: the case's controllers and functions, and those of this module.
func (c *Case) Registry() *scenarios.Registry { return c.plain().Registry() }

// File compiles the case to a file. An error is a mistake in the case. The error names the field of the case: "User[0]:
// unknown verb delte; did you mean delete?".
func (c *Case) File(name string) (*scenarios.File, error) { return c.plain().File(name) }

// Unexercised lists what an exploration without violations did not exercise; see [casefile.Case.Unexercised].
func (c *Case) Unexercised(x *scenarios.Exploration) []string { return c.plain().Unexercised(x) }

// AlsoUnexercised lists other things that were not exercised; see [casefile.Case.AlsoUnexercised].
func (c *Case) AlsoUnexercised(x *scenarios.Exploration) []string {
	return c.plain().AlsoUnexercised(x)
}

// Explore runs the schedules of the case, random or exhaustive, and returns the result. Unlike [Check], it fails no
// test and keeps no failures. An error is a mistake in the case, or two runs of one schedule that differ.
func (c *Case) Explore(ctx context.Context, name string) (*scenarios.Exploration, error) {
	return c.exploreWith(ctx, name, scenarios.ExploreOptions{})
}

// exploreWith explores with the options o. Flags set the seed and the number of schedules.
func (c *Case) exploreWith(ctx context.Context, name string, o scenarios.ExploreOptions) (*scenarios.Exploration, error) {
	o.Seed, o.Schedules = *seed, *schedules
	if *exhaustive {
		o.Strategy = "exhaustive"
	}
	x, err := c.plain().Explore(ctx, name, o)
	return x, c.drawn(err)
}

// drawn adds advice to an error about two runs that differ, if the cause may be random numbers in a hosted program.
func (c *Case) drawn(err error) error {
	if d := (*explore.Disagreement)(nil); !errors.As(err, &d) || !slices.ContainsFunc(c.Controllers, func(k host.Controller) bool { return k.Hosted() }) {
		return err
	}
	return fmt.Errorf("%w (without the overlay, client-go's caches list in the order of a map and its informers draw which "+
		"handler runs first: run the test by threelaws test, or use bubble.NewInformer or bubble.Informers)", err)
}
