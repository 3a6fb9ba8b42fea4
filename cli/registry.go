package cli

import (
	"maps"
	"slices"

	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/controllers/mutants"
	"github.com/threelaws/threelaws/controllers/reaper"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
)

// Builtin is everything this module brings: its controllers, their mutants,
// every law.
func Builtin() *scenarios.Registry {
	g := Complete(&scenarios.Registry{})
	g.Mutants = mutants.All()
	return g
}

// Complete returns a registry with what is missing from it: the controllers of
// this module before its own, so that its own is the one that a name means;
// every law where it has none; the aliases and the reaper of this module.
// Mutants are not added: whoever lists them owes a scenario that kills each.
func Complete(g *scenarios.Registry) *scenarios.Registry {
	full := scenarios.Registry{}
	if g != nil {
		full = *g
	}
	own := full.Controllers
	full.Controllers = nil
	for _, c := range controllers.Builtin() {
		same := func(d host.Controller) bool { return d.Name == c.Name && d.Generation == c.Generation }
		if !slices.ContainsFunc(own, same) {
			full.Controllers = append(full.Controllers, c)
		}
	}
	full.Controllers = append(full.Controllers, own...)
	if full.Laws == nil {
		full.Laws = law.All()
	}
	manager := controllers.KubeControllerManager()
	if full.Managed == nil {
		full.Managed, full.Absent = manager.Runs, manager.Absent
	}
	aliases := controllers.Aliases()
	for _, c := range own {
		delete(aliases, c.Name)
	}
	maps.Copy(aliases, full.Aliases)
	full.Aliases = aliases
	if full.Candidate == nil {
		full.Candidate = controllers.Candidate
	}
	if full.Reaper == nil {
		full.Reaper = reaper.Controller
	}
	return &full
}
