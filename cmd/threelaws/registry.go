package main

import (
	"github.com/threelaws/threelaws/controllers"
	"github.com/threelaws/threelaws/controllers/mutants"
	"github.com/threelaws/threelaws/controllers/reaper"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/law"
)

// builtin is what scenario files may name: everything this module brings.
func builtin() *scenarios.Registry {
	g := &scenarios.Registry{
		Controllers: controllers.Builtin(),
		Laws:        law.All(),
		Aliases:     controllers.Aliases(),
		Reaper:      reaper.Controller,
	}
	for _, m := range mutants.All() {
		g.Mutants = append(g.Mutants, scenarios.Mutant{
			Name: m.Name, Summary: m.Sentence, Clause: m.Clause, Law: m.Law, Controller: m.Controller(),
		})
	}
	return g
}

// lawNamed finds a law by name, nil when there is none.
func (a *app) lawNamed(name string) *law.Law {
	for _, l := range a.registry.Laws {
		if l.Name == name {
			return l
		}
	}
	return nil
}
