package scenarios_test

import (
	"testing"

	"github.com/threelaws/threelaws/internal/explore"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim"
)

// racing passes choices on and records which timers fired before the first possible action.
type racing struct {
	sim.Chooser
	retries    int
	overtaking int // retries before the user's next action and a pending event
}

func (r *racing) Next(w *sim.World, enabled []sim.Action) int {
	i := r.Chooser.Next(w, enabled)
	if i < 0 || enabled[i].Class != sim.Timer {
		return i
	}
	r.retries++
	offered := map[sim.Class]bool{}
	for _, a := range enabled {
		offered[a.Class] = true
	}
	if offered[sim.User] && offered[sim.Deliver] {
		r.overtaking++
	}
	return i
}

// A creation is refused and retried 5 ms later. Meanwhile user actions and events are pending.
const retried = `controllers replicaset replication
apply race.yaml
settle quiet
fail replicaset create pod nth=1 with=500
scale rs/a replicas=2
label rs/a by=user
label rs/a by=user2
label rc/b by=user
label rc/b by=user2
settle
-- race.yaml --
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: a
spec:
  replicas: 1
  selector:
    matchLabels: {app: a}
  template:
    metadata:
      labels: {app: a}
    spec:
      containers: [{name: c, image: i}]
---
apiVersion: v1
kind: ReplicationController
metadata:
  name: b
spec:
  replicas: 1
  selector: {app: b}
  template:
    metadata:
      labels: {app: b}
    spec:
      containers: [{name: c, image: i}]
`

// In the default schedule a retry comes last. In drawn schedules of each strategy it sometimes comes before the user's
// next action and a pending event. The seed decides when.
func TestRetriesRace(t *testing.T) {
	f := parse(t, retried)
	p := &scenarios.Script{File: f, Registry: registry(), Until: len(f.Steps)}
	run := func(c sim.Chooser) *racing {
		r := &racing{Chooser: c}
		if out := p.Run(r); !out.Settled || len(out.Findings) > 0 {
			t.Fatalf("%+v", out)
		}
		return r
	}
	if r := run(explore.Follow(nil)); r.retries != 1 || r.overtaking != 0 {
		t.Errorf("default schedule: %d timers fired, %d before others", r.retries, r.overtaking)
	}
	const runs = 1000
	for _, s := range []explore.Strategy{explore.Random, explore.Priorities} {
		plan := explore.Plan{Strategy: s, Seed: 1, Steps: 60}
		count := func() (seeds []int) {
			for i := range runs {
				c, _ := plan.At(i)
				if run(c).overtaking > 0 {
					seeds = append(seeds, i)
				}
			}
			return seeds
		}
		seeds := count()
		if n := len(seeds); n <= runs/100 || n >= runs/2 {
			t.Errorf("%v: in %d of %d runs the retry came before both", s, n, runs)
		}
		t.Logf("%v: %d of %d", s, len(seeds), runs)
	}
}
