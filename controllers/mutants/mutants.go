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
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/controllers/namespace"
	"github.com/threelaws/threelaws/sim/host"
)

// rows are all mutants, grouped by the code that their guards are in.
func rows() []mutant {
	return slices.Concat(claimMutants, releaseMutants, scaleMutants, expectationMutants, routingMutants, writingMutants,
		wrappedMutants,
		collectorMutants,
		namespaceMutants,
		kubeletMutants,
		cronJobMutants,
		sliceMutants,
		jobMutants,
		statefulSetMutants,
		sweepers,
		protectionMutants,
		deploymentMutants,
		podgcMutants,
		daemonSetMutants,
		operatorMutants,
		habitMutants,
		statusMutants,
		collectorHabits,
	)
}

// All returns every mutant.
func All() []host.Mutant {
	var all []host.Mutant
	for _, m := range rows() {
		all = append(all, host.Mutant{Name: m.name, Clause: m.clause, Law: m.law, Sentence: m.sentence, Make: m.make})
	}
	return all
}

// mutant is a row of the tables.
type mutant struct {
	name, clause, law, sentence string // as in [host.Mutant]
	build
}

// build makes a mutant.
type build struct {
	make func() host.Controller
	// without is the struct of guards that the controller lacks; nil for one
	// whose fault is not a guard left out.
	without any
}

// of is a ReplicaSet controller without what f sets.
func of(f func(w *replicas.Without)) build {
	o := replicas.Options{Era: replicas.Current}
	f(&o.Without)
	return build{func() host.Controller { return replicaset.New(o) }, o.Without}
}

// proposed is a ReplicaSet controller of the era without a consistency store,
// which hides what some guards of expectations are for, without what f sets.
func proposed(f func(w *replicas.Without)) build {
	o := replicas.Options{Era: replicas.ControllerRef}
	f(&o.Without)
	return build{func() host.Controller { return replicaset.New(o) }, o.Without}
}

// declared is a ReplicaSet controller of which f changes the declaration.
func declared(f func(c *host.Controller)) build {
	return build{make: func() host.Controller {
		c := replicaset.New(replicas.Options{Era: replicas.Current})
		f(&c)
		return c
	}}
}

// collector is a garbage collector without what f sets.
func collector(f func(w *garbagecollector.Without)) build {
	var w garbagecollector.Without
	f(&w)
	return build{func() host.Controller { return garbagecollector.New(w) }, w}
}

// drainer is a namespace controller without what f sets.
func drainer(f func(w *namespace.Without)) build {
	var w namespace.Without
	f(&w)
	return build{func() host.Controller { return namespace.New(w) }, w}
}
