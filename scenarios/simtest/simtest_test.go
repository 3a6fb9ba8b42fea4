package simtest_test

import (
	"flag"
	"os"
	"testing"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law"
)

var registry = &scenarios.Registry{Controllers: controllers.Builtin(), Aliases: controllers.KubeControllerManager().Aliases, Laws: law.All(),
	Candidate: controllers.KubeControllerManager().Elector}

// found is the directory for the fuzzer's failures.
const found = "../failures"

var conforming = generator{
	Controllers: "replicaset@controllerref replication@controllerref gc kubelet",
	Sets:        3, Orphans: 3, Actions: 4,
	Faults: map[string]int{"crash": 1, "lost": 1, "conflict": 1, "relist": 1, "stale": 1},
}

// TestMain fixes rapid's seed unless one is given, so that every test run is the same. Use the fuzzer to search for new
// failures.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("2017"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The generator finds fights in the era before ControllerRef.
func TestSelectorFights(t *testing.T) {
	w := conforming
	w.Controllers, w.Faults = "replicaset@selector replication@selector gc kubelet", nil
	g := *registry
	g.Laws = []*law.Law{law.ByID("NOFIGHT-1")} // any other law would end the run before the fight
	fights := 0
	const runs = 100
	for seed := range uint64(runs) {
		v, err := w.run(&g, sim.NewSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome.Fight {
			fights++
		}
	}
	t.Logf("%d of %d worlds fought", fights, runs)
	if fights < runs/20 {
		t.Errorf("only %d of %d worlds fought", fights, runs)
	}
}

// In the era controllerref, no user actions, schedules or faults make the controllers fight or violate a law.
func TestControllerRefUnderSeeds(t *testing.T) {
	for seed := range uint64(500) {
		v, err := conforming.run(registry, sim.NewSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		if why := v.Failed(); why != "" {
			t.Fatalf("seed %d: %s\n%s", seed, why, v.File.Format())
		}
	}
}

// FuzzOwnershipRace uses its bytes as the stream of choices for the world, the user's actions, and the schedule.
func FuzzOwnershipRace(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 1, 0, 0, 1, 1, 2, 0, 1, 3, 2, 1, 0, 4, 2, 1})
	f.Add([]byte{2, 0, 2, 0, 0, 2, 1, 1, 3, 1, 0, 0, 1, 0, 1, 1, 3, 0, 1, 0, 2, 1, 1, 0, 3, 5, 2, 9, 4, 3, 1, 2})
	f.Fuzz(simtest.Fuzz(func(c sim.Choices) (*simtest.Drawn, error) { return conforming.run(registry, c) },
		func(*testing.T) string { return found }))
}
