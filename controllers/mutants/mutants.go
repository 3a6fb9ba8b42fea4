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
