// Package mutants holds the reference controllers with one guard removed each.
// A law that no mutant breaks is not checked, and a guard whose mutant no
// scenario kills is not tested.
//
// The guards are fields of the controllers' Without structs, each looked at in
// one place. Guards that serve one clause together are removed together, where
// removing one of them changes nothing as the other still stands.
package mutants

import (
	"slices"

	"github.com/threelaws/threelaws/controllers/garbagecollector"
	"github.com/threelaws/threelaws/controllers/namespace"
	"github.com/threelaws/threelaws/controllers/replicas"
	"github.com/threelaws/threelaws/controllers/replicaset"
	"github.com/threelaws/threelaws/sim/host"
)

// Mutant is a controller without one guard.
type Mutant struct {
	Name     string // "replicaset/skip-recheck"
	Clause   string // the clause that the guard serves
	Law      string // the law that is to kill the mutant, by its clause; "" if no law does, as what it does wrong is put right in the end
	Sentence string // what it does wrong

	build build
}

// build says how a mutant differs; one of the fields is set.
type build struct {
	replicas  func(w *replicas.Without)
	collector func(w *garbagecollector.Without)
	drainer   func(w *namespace.Without)
	declared  func(c *host.Controller)
}

// Controller makes the mutant.
func (m *Mutant) Controller() host.Controller {
	if m.build.collector != nil {
		var w garbagecollector.Without
		m.build.collector(&w)
		return garbagecollector.New(w)
	}
	if m.build.drainer != nil {
		var w namespace.Without
		m.build.drainer(&w)
		return namespace.New(w)
	}
	o := replicas.Options{Generation: replicas.ControllerRef}
	if m.build.replicas != nil {
		m.build.replicas(&o.Without)
	}
	c := replicaset.New(o)
	if m.build.declared != nil {
		m.build.declared(&c)
	}
	return c
}

// All returns every mutant, grouped by the code that its guard is in.
func All() []Mutant {
	return slices.Concat(claimMutants, releaseMutants, scaleMutants, expectationMutants, routingMutants, writingMutants, collectorMutants, namespaceMutants)
}

// Lookup finds a mutant by name.
func Lookup(name string) (Mutant, bool) {
	for _, m := range All() {
		if m.Name == name {
			return m, true
		}
	}
	return Mutant{}, false
}

// of is a ReplicaSet controller without what f sets.
func of(f func(w *replicas.Without)) build { return build{replicas: f} }

// declared is a ReplicaSet controller of which f changes the declaration.
func declared(f func(c *host.Controller)) build { return build{declared: f} }

// collector is a garbage collector without what f sets.
func collector(f func(w *garbagecollector.Without)) build { return build{collector: f} }
