// Package builtin contains the registry of this module: its controllers, their mutants, and all laws.
package builtin

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

// Registry returns the controllers of this module, their mutants and every law.
func Registry() *scenarios.Registry {
	g := Complete(&scenarios.Registry{})
	g.Mutants = mutants.All()
	return g
}

// with returns laws and the invariants of the controllers. Each ID occurs once. If controllers share an ID, its law
// checks each controller by the controller's own invariant.
func with(laws []*law.Law, controllers ...host.Controller) []*law.Law {
	for i := range controllers {
		for _, l := range controllers[i].Contract.Laws() {
			if !slices.ContainsFunc(laws, func(k *law.Law) bool { return k.ID == l.ID }) {
				laws = append(laws, l)
			}
		}
	}
	return laws
}

// Complete returns a copy of a registry, with the controllers and aliases of this module added. If Laws, Managed,
// Candidate or Reaper is nil, it gets the value of this module. A controller in the registry has precedence over one of
// this module with the same name and era. Mutants are not added: each needs a scenario in which a law finds it.
func Complete(g *scenarios.Registry) *scenarios.Registry {
	full := scenarios.Registry{}
	if g != nil {
		full = *g
	}
	own := full.Controllers
	full.Controllers = nil
	for _, c := range controllers.Builtin() {
		same := func(d host.Controller) bool { return d.Name == c.Name && d.Era == c.Era }
		if !slices.ContainsFunc(own, same) {
			full.Controllers = append(full.Controllers, c)
		}
	}
	full.Controllers = append(full.Controllers, own...)
	if full.Laws == nil {
		full.Laws = with(law.All(), full.Controllers...)
	}
	manager := controllers.KubeControllerManager()
	if full.Managed == nil {
		full.Managed, full.Absent = manager.Runs, manager.Absent
	}
	aliases := manager.Aliases
	for _, c := range own {
		delete(aliases, c.Name)
	}
	maps.Copy(aliases, full.Aliases)
	full.Aliases = aliases
	if full.Candidate == nil {
		full.Candidate = manager.Elector
	}
	if full.Reaper == nil {
		full.Reaper = reaper.Controller
	}
	return &full
}
