// Package mutants contains mutants of the reference controllers. Most mutants are a controller with one disabled
// guard. Mutants test the laws and the guards: each law needs a mutant that violates it, and each guard needs a
// scenario that finds its mutant.
//
// A guard is a check in a controller. A field of the controller's Without struct disables it. If disabling one guard
// has no effect because of another guard of the same clause, a mutant disables both.
package mutants

import (
	"slices"

	"github.com/threelaws/threelaws/controllers/internal/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/namespace"
	"github.com/threelaws/threelaws/controllers/internal/replicas"
	"github.com/threelaws/threelaws/controllers/internal/replicaset"
	"github.com/threelaws/threelaws/sim/host"
)

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

type mutant struct {
	name, clause, law, sentence string // as the fields of [host.Mutant]
	build
}

// build has the constructor of a mutant.
type build struct {
	make func() host.Controller
	// without is the struct of disabled guards. It is nil for a mutant without a disabled guard.
	without any
}

// of returns a ReplicaSet controller without the guards that f disables.
func of(f func(w *replicas.Without)) build {
	o := replicas.Options{Era: replicas.Current}
	f(&o.Without)
	return build{func() host.Controller { return replicaset.New(o) }, o.Without}
}

// proposed is like [of], but for the ControllerRef era, which has no consistency store. With this store, some guards of
// expectations would have no effect.
func proposed(f func(w *replicas.Without)) build {
	o := replicas.Options{Era: replicas.ControllerRef}
	f(&o.Without)
	return build{func() host.Controller { return replicaset.New(o) }, o.Without}
}

// declared returns a ReplicaSet controller that f modifies.
func declared(f func(c *host.Controller)) build {
	return build{make: func() host.Controller {
		c := replicaset.New(replicas.Options{Era: replicas.Current})
		f(&c)
		return c
	}}
}

func collector(f func(w *garbagecollector.Without)) build {
	var w garbagecollector.Without
	f(&w)
	return build{func() host.Controller { return garbagecollector.New(w) }, w}
}

func drainer(f func(w *namespace.Without)) build {
	var w namespace.Without
	f(&w)
	return build{func() host.Controller { return namespace.New(w) }, w}
}
