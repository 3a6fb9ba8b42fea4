package sim_test

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// Prompt delivers events, then answers, then begins watches, before it executes other requests. It takes no faults.
func TestPrompt(t *testing.T) {
	actions := []sim.Action{{Class: sim.Fault, Actor: "faults", Detail: "crash"}, {Class: sim.Timer, Actor: "clock"},
		{Class: sim.Work, Actor: "a"}, {Class: sim.Execute, Actor: "a", Detail: "create secrets"},
		{Class: sim.Execute, Actor: "a", Detail: "watch secrets"}, {Class: sim.Respond, Actor: "a", Detail: "get secrets"},
		{Class: sim.Deliver, Actor: "a", Detail: "Secret"}}
	for _, p := range []*sim.Prompt{{}, {Seed: sim.NewSeed(1)}} {
		for n := len(actions); n > 1; n-- {
			if i := p.Next(nil, actions[:n]); i != n-1 {
				t.Errorf("of %v it takes number %d", actions[:n], i)
			}
		}
		if i := p.Next(nil, actions[:1]); i >= 0 {
			t.Error("it takes a fault")
		}
	}
	if i := (&sim.Prompt{Halt: func() bool { return true }}).Next(nil, actions); i >= 0 {
		t.Errorf("a halted run takes number %d", i)
	}
}
