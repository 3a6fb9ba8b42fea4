package host

import (
	"slices"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// The list of actions that a process keeps from step to step equals a newly computed one, under any choices and
// faults.
func TestOffersAreWhatThereIsToDo(t *testing.T) {
	steps := 0
	for seed := range uint64(60) {
		c := newToyCluster(t, sim.NewSeed(seed), 2)
		for _, name := range []string{"one", "two"} {
			ctl := toyController(false)
			ctl.Workers = 2
			c.Start(name, ctl)
		}
		b, err := c.NewBudget(map[string]int{"crash": 2, "stale": 1, "conflict": 1, "throttle": 1, "error": 1,
			"lost": 1, "relist": 2, "resync": 2})
		if err != nil {
			t.Fatal(err)
		}
		c.world.Add(b)
		view := c.server.KindNamed("pod")
		for n := 0; n < 300; n++ {
			switch p := c.processes[0]; n {
			case 10:
				p.Hold(view)
			case 40:
				p.Release(view)
			case 60:
				p.Switch(p.controller)
			case 80:
				p.Crash(false)
			case 90:
				p.Restart(0)
			}
			for _, p := range c.processes {
				if got, want := (actor{p}).Offer(nil), offered(p); !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: %s offers\n%v, want\n%v", seed, n, p.Name, got, want)
				}
			}
			if !c.world.Step() {
				break
			}
			steps++
		}
		c.Stop()
	}
	if steps < 2000 {
		t.Errorf("only %d steps", steps)
	}
}

// offered computes the actions of a process without the kept list.
func offered(p *Process) []sim.Action {
	var news []sim.Action
	for i, inf := range p.order {
		if !inf.held && inf.pending() > 0 {
			news = append(news, sim.Action{Class: sim.Deliver, Actor: p.Name, Detail: inf.kind.GVK.Kind, Slot: i})
		}
	}
	known := p.news
	p.news = news
	defer func() { p.news = known }()
	return p.offer(nil)
}
