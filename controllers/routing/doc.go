// Package routing says which controller objects an event concerns. [Dependents]
// routes by ControllerRef, as the proposal's section "Watches" has it
// (WATCH-1 to WATCH-6); [TieBreak] is what there was before (WATCH-8); [Own]
// routes the events on the controller objects themselves.
//
// Routes are pure: an event and the caches go in, keys come out. A controller of
// ReplicaSets that owns Pods has two, with [Without] zero:
//
//	Routes: []host.Route{
//		routing.Own(replicaSets, &routing.Without{}),
//		(&routing.Dependents{Owner: replicaSets, ...}).Route(pods),
//	}
//
// as controllers/internal/replicas does.
package routing

// Without names rules to leave out. The zero value keeps them all; a controller
// that runs with one of them set is a mutant (package mutants). Each rule is
// checked at one place.
type Without struct {
	UID      bool // a reference is resolved by name alone
	Kind     bool // ... and by the name of an owner of any kind
	OnlyOne  bool // an event on an owned object wakes every matching controller too
	OldOwner bool // the former owner is not woken when the reference changes
	Removal  bool // an object that lost its reference is not offered to anybody

	OrphanAdd    bool // new orphans are not offered to anybody
	OrphanDelete bool // the deletion of an orphan wakes the matching controllers
	OrphanLabels bool // an orphan whose labels changed is not offered to anybody
	OrphanQuiet  bool // every update of an orphan wakes the matching controllers

	Resync          bool // an update to the same version is taken for a change
	Graceful        bool // the start of a graceful deletion is not taken for the deletion
	Tombstone       bool // a deletion learnt from a relist is not seen
	OwnExpectations bool // expectations of the first matching controller are moved, not the owner's
	OrphanUncounted bool // a new orphan counts as a creation for every matching controller
	Incarnation     bool // expectations outlive a controller object that was replaced by a namesake
	OwnDeletion     bool // expectations outlive a controller object that was deleted
}
