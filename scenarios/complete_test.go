package scenarios_test

import (
	"context"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// An exploration reports whether it did all that it was told to do, and how many schedules settled.
func TestAnExplorationSaysWhatItsPassIsWorth(t *testing.T) {
	spinning := restless(func(env *host.Env, key string) error { env.Queue.Add(key); return nil })
	spins := "controllers restless\napply world.yaml\nsettle\n"
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
			if err != nil {
				t.Fatal(err)
			}
			if complete := c.stopped == ""; x.Complete != complete || x.Stopped != c.stopped || x.Ended > 0 != c.ended {
				t.Errorf("complete %v, stopped %q, %d ended\n%s", x.Complete, x.Stopped, x.Ended, x.Text())
			}
		})
	}
}
