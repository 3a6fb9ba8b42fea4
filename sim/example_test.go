package sim_test

import (
	"fmt"

	"github.com/threelaws/threelaws/sim"
)

// clerk is an actor that reads a counter and writes it incremented, in two steps.
type clerk struct {
	name    string
	world   *sim.World
	counter *int
	read    int
	done    int
}

func (c *clerk) Name() string { return c.name }

func (c *clerk) Offer(into []sim.Action) []sim.Action {
	if c.done == 2 {
		return into
	}
	return append(into, sim.Action{Class: sim.Work, Actor: c.name, Detail: []string{"read", "write"}[c.done]})
}

func (c *clerk) Take(a sim.Action) {
	if c.done++; a.Detail == "read" {
		c.read = *c.counter
	} else {
		*c.counter = c.read + 1
	}
	c.world.Record(sim.Record{Op: sim.Read, Process: c.name, Verb: a.Detail})
}

func (c *clerk) Footprint(sim.Action) sim.Footprint { return sim.Footprint{Global: true} }

func count(choices sim.Choices) (counter int, world *sim.World) {
	world = sim.New(choices)
	for _, name := range []string{"anna", "bert"} {
		world.Add(&clerk{name: name, world: world, counter: &counter})
	}
	for world.Step() {
	}
	return counter, world
}

// A world takes one enabled action at a time, and its choices select the action. Under the default schedule, both
// increments count. A seed finds a schedule that loses an increment.
func Example() {
	counter, _ := count(sim.Zero{})
	fmt.Println("by default:", counter)
	for seed := range uint64(100) {
		if counter, world := count(sim.NewSeed(seed)); counter != 2 {
			fmt.Println("under another schedule:", counter)
			for _, r := range world.History.Records {
				fmt.Println(r.Step, r.Process, r.Verb)
			}
			break
		}
	}
	// Output:
	// by default: 2
	// under another schedule: 1
	// 1 bert read
	// 2 anna read
	// 3 anna write
	// 4 bert write
}
