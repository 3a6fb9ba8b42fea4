package law

import "github.com/threelaws/threelaws/sim"

var restLaws = []*Law{{
	ID: AlwaysSettles, Name: "always-settle",
	Sentence: "Without interference, controllers settle: no queue, timer or retry runs forever.",
	Needs:    SettledWorld,
	New:      On(comeToRest, sim.Unsettled, sim.Settled),
}, {
	ID: SameEnd, Name: "same-end",
	Sentence: "The settled state depends only on the user's actions: it is equal to that of a run without faults and " +
		"delays.",
	Needs:     SettledWorld,
	Unchecked: "worlds in which quiet runs end differently, where they differ",
	Where:     "scenarios.TestSameEnd",
}, {
	ID: "EXACT-7b", Name: "never-panic",
	Sentence: "A sync does not panic, and no program ends with a panic.",
	Needs:    Syncs, Ends: true,
	New: On(neverPanic, sim.SyncEnd, sim.FaultHit, sim.Settled),
}}

// exactLaws apply to any controller, at every moment of a run and not only in the settled world. They are the last in
// the list. If one record violates several laws, the other laws explain more.
var exactLaws = []*Law{{
	ID: "EXACT-1", Name: "never-too-few",
	Needs: Commits | Reads | Deliveries | Syncs,
	Sentence: "A controller's own delete never leaves an owner with fewer active dependents than it wants, not " +
		"even for a moment.",
	New: On(neverTooFew, sim.Commit),
}, {
	ID: "EXACT-2", Name: "never-too-many",
	Needs: Commits | Reads | Deliveries,
	Sentence: "A controller's own create never brings the active dependents above the wanted number plus the " +
		"declared surge, not even for a moment.",
	Outside: true,
	New:     On(neverTooMany, sim.Commit),
}, {
	ID: "EXACT-3", Name: "one-for-each-identity",
	Needs: Commits | Reads | Deliveries | Syncs | SettledWorld,
	Sentence: "No two active dependents of an owner share an identity (name, ordinal, node, index or scheduled " +
		"time); of two adopted ones, one goes.",
	Unchecked: "that one of two adopted dependents goes, if the owner does not say how many it wants",
	New:       On(oneForEach, sim.Commit, sim.Settled),
}, {
	ID: "EXACT-4", Name: "same-incarnation",
	Needs:    Commits | Reads,
	Sentence: "A decision for one incarnation of an object is never applied to another of the same name.",
	New:      On(sameIncarnation, sim.Commit),
}, {
	ID: "EXACT-5", Name: "no-older-view",
	Needs: Commits | Reads | Deliveries | Syncs,
	Sentence: "(a) A process deletes, scales or overwrites nothing because of a state that is older than the newest " +
		"state that it, or its earlier incarnation, has seen. (b) An update without a resourceVersion reverts no " +
		"change made since the read.",
	Unchecked: "that an operator remembers the answers to its own requests when it deletes",
	New:       On(noOlderView, sim.Commit),
}, {
	ID: "EXACT-6", Name: "nothing-stays-terminating",
	Needs: Commits | SettledWorld,
	Sentence: "Once settled, no object is terminating that only finalizers of running controllers or of the " +
		"system hold.",
	New: On(nothingStays, sim.Commit, sim.Settled),
}, {
	ID: "EXACT-8", Name: "exact-status",
	Needs: Commits | Reads | Deliveries | Syncs | SettledWorld,
	Sentence: "A status counts the objects that its owner controls: those that the controller has seen and, once " +
		"settled, those that are stored.",
	New: On(exactStatus, sim.Commit, sim.Settled),
}, {
	ID: "EXACT-12", Name: "count-once",
	Needs:    Commits | Reads | Deliveries | Syncs,
	Sentence: "A status that also counts deleted dependents counts each dependent once.",
	New:      newOnce,
}, {
	ID: "EXACT-14", Name: "observed-generation",
	Needs: Commits | Reads | Syncs,
	Sentence: "A status reports no generation of its object that is newer than the one that the reconcile worked " +
		"from.",
	New: newObserving,
}}
