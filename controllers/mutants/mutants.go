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
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/namespace"
	"github.com/threelaws/threelaws/controllers/replicaset"
	"github.com/threelaws/threelaws/sim/host"
)

// Mutant is a controller without one guard.
type Mutant struct {
	Name     string // "replicaset/skip-recheck"
	Clause   string // the clause that the guard serves
	Law      string // the law that is to kill the mutant, by its clause; "" if no law does, as what it does wrong is put right in the end
	Sentence string // what it does wrong

	Build
}

// Build makes a mutant.
type Build struct {
	Make func() host.Controller
	// Without is the struct of guards that the controller lacks; nil for one
	// whose fault is not a guard left out.
	Without any
}

// All returns every mutant, grouped by the code that its guard is in.
func All() []Mutant {
	return slices.Concat(claimMutants, releaseMutants, scaleMutants, expectationMutants, routingMutants, writingMutants, wrappedMutants, collectorMutants, namespaceMutants, kubeletMutants)
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
func of(f func(w *replicas.Without)) Build {
	o := replicas.Options{Generation: replicas.ControllerRef}
	f(&o.Without)
	return Build{func() host.Controller { return replicaset.New(o) }, o.Without}
}

// declared is a ReplicaSet controller of which f changes the declaration.
func declared(f func(c *host.Controller)) Build {
	return Build{Make: func() host.Controller {
		c := replicaset.New(replicas.Options{Generation: replicas.ControllerRef})
		f(&c)
		return c
	}}
}

// collector is a garbage collector without what f sets.
func collector(f func(w *garbagecollector.Without)) Build {
	var w garbagecollector.Without
	f(&w)
	return Build{func() host.Controller { return garbagecollector.New(w) }, w}
}

// drainer is a namespace controller without what f sets.
func drainer(f func(w *namespace.Without)) Build {
	var w namespace.Without
	f(&w)
	return Build{func() host.Controller { return namespace.New(w) }, w}
}
