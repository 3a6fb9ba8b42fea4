package scenarios_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// exhausted explores all schedules of a file.
func exhausted(t *testing.T, f *scenarios.File, g *scenarios.Registry, states int) *scenarios.Exploration {
	t.Helper()
	x, err := scenarios.Explore(context.Background(), f, -1, g,
		scenarios.ExploreOptions{Strategy: "exhaustive", States: states, Budget: 1})
	if err != nil {
		t.Fatal(f.Name, err)
	}
	return x
}

// A complete search finds the final states of all schedules, even for controllers with memory or retries.
func TestEverythingHasAnEnd(t *testing.T) {
	g := registry()
	for name, ends := range map[string]int{
		"orphan/adopted-after-the-orphan-pass": 2, "orphan/owner-nobody-ever-saw": 1, "overlap/adoption-lost": 1,
		"orphan/dependent-seen-during-the-orphan-pass": 2, "orphan/owner-made-again-under-its-name": 2,
	} {
		f, err := scenarios.Load("testdata/" + name + ".txtar")
		must(t, err)
		x := exhausted(t, f, g, 0)
		if !x.Coverage.Complete || x.Schedules < ends || x.Coverage.Livelocks > 0 || x.Failed > 0 {
			t.Errorf("%s: %s", name, x.Text())
		}
	}
}

// The result of a sync may depend on whether it reads its controller's memory before or after an event. In this world,
// half of the schedules leave two objects.
func TestExhaustiveFindsWhatDependsOnMemory(t *testing.T) {
	f, err := scenarios.Load("testdata/orphan/late-dependent-exhaustively.txtar")
	must(t, err)
	for want, s := range map[string]string{"1": "expect 1 cm", "2": "expect 2 cm"} {
		i := slices.IndexFunc(f.Steps, func(s *scenarios.Step) bool { return s.Verb == "expect" })
		f.Steps[i].Args[0] = scenarios.Arg{Text: want, Value: want}
		if x := exhausted(t, f, registry(), 0); !x.Coverage.Complete || x.Failed != 1 || x.Schedules < 2 {
			t.Errorf("%s: %s", s, x.Text())
		}
	}
}

// The report lists what no schedule varied, such as the order of the user's actions, and faults without a budget.
func TestTheReportNamesWhatWasNotVaried(t *testing.T) {
	f, err := scenarios.Load("testdata/orphan/deleting-set-adopts-nothing.txtar")
	must(t, err)
	x, err := scenarios.Explore(context.Background(), f, -1, registry(),
		scenarios.ExploreOptions{Strategy: "exhaustive", States: 5,
			Faults: map[string]int{"crash": 1}})
	must(t, err)
	fixed := x.Coverage.Fixed
	if !slices.Contains(fixed, "the order of the user's own actions") ||
		!slices.Contains(fixed, "the faults stale, conflict, throttle, error, lost, relist, resync, slow") {
		t.Errorf("%q", fixed)
	}
	if x.Coverage.Complete {
		t.Error("a search that is limited to five states is reported as complete")
	}
}

// A world that runs forever without writes, although nothing waits, is a livelock. Here every schedule is a livelock,
// so nothing is covered and the file fails. A world that only polls every minute has settled.
func TestLivelockIsAFinding(t *testing.T) {
	for name, sync := range map[string]func(*host.Env, string) error{
		"spins": func(env *host.Env, key string) error { env.Queue.Add(key); return nil },
		"beats": func(env *host.Env, key string) error { env.Queue.AddAfter(key, time.Minute); return nil },
	} {
		g := unsettled(sync)
		ctl := &g.Controllers[len(g.Controllers)-1]
		ctl.New = func(env *host.Env) host.Reconciler {
			return host.Stateless(func(_ context.Context, key string) error { return sync(env, key) })
		}
		f := parse(t, "controllers unsettled\napply world.yaml\nsettle limit=1\nexplore strategy=exhaustive\n")
		x := exhausted(t, f, g, 0)
		c, locked := x.Coverage, name == "spins"
		if c.Complete == locked || (c.Livelocks > 0) != locked || (x.Unsettled > 0) != locked ||
			strings.Contains(x.Text(), "livelock") != locked {
			t.Errorf("%s: %s", name, x.Text())
		}
	}
}

// A step that cannot be executed in the default schedule is an error, and not a pass.
func TestSenselessStepIsNoPass(t *testing.T) {
	f := parse(t, "controllers replicaset\napply world.yaml\nsettle\nrestart replicaset from=@zzz\nsettle\n")
	for _, strategy := range []string{"mix", "exhaustive"} {
		_, err := scenarios.Explore(context.Background(), f, -1, registry(),
			scenarios.ExploreOptions{Strategy: strategy, Schedules: 5})
		if err == nil || !strings.Contains(err.Error(), "zzz") {
			t.Errorf("%s: %v", strategy, err)
		}
	}
}

// An exploration reports whether it is complete, and how many schedules reached their end.
func TestExplorationReportsWhatAPassProves(t *testing.T) {
	spinning := unsettled(func(env *host.Env, key string) error { env.Queue.Add(key); return nil })
	spins := "controllers unsettled\napply world.yaml\nsettle\n"
	works := "controllers replicaset\napply world.yaml\nsettle\n"
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		g       *scenarios.Registry
		script  string
		options scenarios.ExploreOptions
		stopped string
		ended   bool
	}{
		"drawn":       {t.Context(), registry(), works, scenarios.ExploreOptions{Schedules: 5}, "", true},
		"interrupted": {over, registry(), works, scenarios.ExploreOptions{Schedules: 5}, "interrupted", false},
		"spins": {t.Context(), spinning, spins, scenarios.ExploreOptions{Schedules: 2, Budget: 1},
			"no schedule came to its end", false},
		"spins exhaustively": {t.Context(), spinning, spins,
			scenarios.ExploreOptions{Strategy: "exhaustive", Budget: 1}, "no schedule came to its end", false},
		"some states": {t.Context(), registry(), works,
			scenarios.ExploreOptions{Strategy: "exhaustive", States: 5}, "bound of 5 states", true},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := scenarios.Explore(c.ctx, parse(t, c.script), -1, c.g, c.options)
			must(t, err)
			if complete := c.stopped == ""; x.Complete != complete || x.Stopped != c.stopped || x.Ended > 0 != c.ended {
				t.Errorf("complete %v, stopped %q, %d ended\n%s", x.Complete, x.Stopped, x.Ended, x.Text())
			}
		})
	}
}
