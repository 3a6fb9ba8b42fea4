package agent_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// function returns a function that is hosted instead of a main. The caller decides whether its processes are reused.
func function(t testing.TB, args ...string) *agent.Binary {
	t.Helper()
	return mainIn(t, "testdata/function", ".", args...)
}

// rehearsal returns the worlds that each process of a function serves before its first life.
func rehearsal(t testing.TB) agent.World {
	return func(hosting func(host.Controller) host.Controller, seed uint64) (string, uint64) {
		var choices sim.Choices = sim.Zero{}
		var faults map[string]int
		if seed != 0 {
			choices, faults = sim.NewSeed(seed), manyFaults
		}
		w := run(t, hosting(keeper), choices, faults)
		defer w.Stop()
		return fmt.Sprint(secrets(w)), w.World.Hash()
	}
}

// A schedule gives the same run in every process, no matter how many worlds the process has served.
func TestReusedProcessesAreOneRun(t *testing.T) {
	hashes := map[uint64]uint64{}
	for round := range 3 {
		b := function(t)
		if why := b.Reuse(rehearsal(t)); why != "" {
			t.Fatal(why)
		}
		var order []uint64
		for seed := range uint64(30) {
			order = append(order, seed)
		}
		if round == 1 {
			slices.Reverse(order)
		}
		for _, seed := range order {
			w := run(t, b.Controller(keeper), sim.NewSeed(seed), manyFaults)
			if v := w.Broken(); v != nil {
				t.Errorf("seed %d: %v", seed, v)
			}
			if n := secrets(w); n != owners {
				t.Errorf("seed %d: %d Secrets for %d ConfigMaps", seed, n, owners)
			}
			h := w.World.Hash()
			w.Stop()
			if first, is := hashes[seed]; is && h != first {
				t.Errorf("seed %d: round %d differs from the first", seed, round)
			}
			hashes[seed] = h
		}
		b.Close()
	}
}

// A binary can be closed while its processes are being started.
func TestClosesWhileProcessesArePrepared(t *testing.T) {
	b := function(t)
	for range 3 {
		if why := b.Reuse(rehearsal(t)); why != "" {
			t.Fatal(why)
		}
		var worlds []*trial.Trial
		for range 3 { // two processes are ready, so the third run waits for a new one
			worlds = append(worlds, run(t, b.Controller(keeper), sim.NewSeed(1), nil))
		}
		for _, w := range worlds {
			w.Stop()
		}
		b.Close()
	}
}

// A process serves only one life if the program leaves something that the next life could see.
func TestWhatIsNotReused(t *testing.T) {
	for _, test := range []struct{ does, why string }{
		{"", ""},
		{"files", ""},
		{"cache", ""},
		{"variable", "it does not do the same where it has run before in its process: package variables keep their values"},
		{"leak", "goroutines go on when its context has ended"},
		{"mutex", "goroutines go on when its context has ended"},
		{"spin", "it goes on when its context has ended"},
		{"exit", "its process ends with its context"},
		{"once", "it ended by itself: exit status 1; the last lines that it printed: it runs once"},
	} {
		t.Run(test.does, func(t *testing.T) {
			b := function(t, test.does)
			if why := b.Reuse(rehearsal(t)); why != test.why {
				t.Errorf("%s", why)
			}
			if test.does == "variable" {
				return
			}
			same(t, b.Controller(keeper), 2, map[string]int{"crash": 1})
		})
	}
}

// Each replica has the name of its own pod, and it has the same name in every run.
func TestReplicasHaveNames(t *testing.T) {
	b := program(t, "bare", "name")
	b.Name = "keeper"
	var first []string
	for range 2 {
		w := run(t, b.Controller(keeper), sim.NewSeed(3), nil, "keeper-2")
		var names []string
		w.Server.Each(w.Server.KindNamed("secret"), func(o runtime.Object) bool {
			names = append(names, string(o.(*corev1.Secret).Data["stamp"]))
			return true
		})
		w.Stop()
		if !slices.Contains(names, "keeper-0") || !slices.Contains(names, "keeper-1") {
			t.Errorf("the Secrets are made by %s", names)
		}
		if first != nil && !slices.Equal(first, names) {
			t.Errorf("the Secrets are made by %s, then by %s", first, names)
		}
		first = names
	}
}
