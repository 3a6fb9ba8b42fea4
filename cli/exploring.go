package cli

import (
	"github.com/threelaws/threelaws/scenarios"
)

// exploring is an exploration with the flags that scenarios do not know.
type exploring struct {
	scenarios.ExploreOptions

	checks

	faults     string
	generation string
	out        string
}

// strategies are the ways to choose schedules.
var strategies = []string{"mix", "random", "pct", "exhaustive"}

// check looks at the flags' values.
func (x *exploring) check() error {
	if err := oneOf("strategy", x.Strategy, strategies...); err != nil {
		return err
	}
	for _, n := range []struct {
		name         string
		value, least int
	}{
		{"schedules", x.Schedules, 1}, {"states", x.States, 0}, {"early-timers", x.Early, 0},
		{"workers", x.Workers, 0}, {"budget", x.Budget, 1},
	} {
		if n.value < n.least {
			return usage("--%s=%d: at least %d", n.name, n.value, n.least)
		}
	}
	if x.States > 0 && x.Strategy != "exhaustive" {
		return usage("--states=%d bounds --strategy exhaustive only; drawn schedules are bounded by -n", x.States)
	}
	if x.faults != "" {
		var what string
		if x.Faults, what = scenarios.ParseFaults(x.faults); what != "" {
			return usage("--faults: %s", what)
		}
	}
	return nil
}
