package host

import (
	"testing"

	"github.com/threelaws/threelaws/sim"
)

// What a process is shown after its request left comes, in the history, at or
// after the index that the request's record has in Asked.
func TestAsked(t *testing.T) {
	c := newToyCluster(t, sim.Zero{}, 1)
	p := c.Start("toy", toyController(false))
	for p.workers[0].state != asking {
		if !c.world.Step() {
			t.Fatal("the toy asked for nothing")
		}
	}
	left := c.world.History.Len()
	c.createMap(t, "late", 0)
	for p.workers[0].state == asking {
		c.world.Step()
	}
	for i := range c.world.History.Records {
		r := &c.world.History.Records[i]
		if r.Process != "toy" || r.Op != sim.Commit {
			continue
		}
		if r.Asked != left || r.Index <= left {
			t.Errorf("record %d: asked when there were %d records, want %d", r.Index, r.Asked, left)
		}
		return
	}
	t.Error("the toy wrote nothing")
}
