package law

import "github.com/threelaws/threelaws/sim"

var watchLaws = []*Law{{
	ID: "WATCH-1", Name: "route-to-owner-only",
	Sentence: "An event for an owned object enqueues the owner that matches in kind, name and UID, and no other.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(ownerAlone, sim.Delivery),
}, {
	ID: "WATCH-2", Name: "own-expectations",
	Sentence: "An event changes the expectations of the object's owner only.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(ownExpectations, sim.Delivery),
}, {
	ID: "WATCH-3", Name: "enqueue-the-old-owner",
	Sentence: "An update that removes or changes the ControllerRef enqueues the old owner, and every selecting " +
		"controller if the object is now an orphan.",
	Profile: Upstream, Needs: Deliveries | Queues,
	New: On(tellOldOwner, sim.Delivery),
}, {
	ID: "WATCH-4", Name: "enqueue-for-new-orphans",
	Sentence: "A new orphan enqueues every controller that selects it and changes no expectations.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(offerOrphans, sim.Delivery),
}, {
	ID: "WATCH-5", Name: "ignore-deleted-orphans",
	Sentence: "A deleted orphan enqueues no controller and changes no expectations.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(ignoreLostOrphans, sim.Delivery),
}, {
	ID: "WATCH-6", Name: "enqueue-for-relabelled-orphans",
	Sentence: "An updated orphan enqueues every controller that selects it if its labels changed, and otherwise " +
		"none.",
	Profile: Upstream, Needs: Deliveries | Queues,
	New: On(relabelOffers, sim.Delivery),
}, {
	ID: "WATCH-7", Name: "never-hang",
	Sentence: "No controller waits for an event that cannot come.",
	Profile:  Upstream, Needs: SettledWorld,
	Unchecked: "controllers that do not say what they wait for",
	New:       On(neverHang, sim.Stuck, sim.Settled),
}, {
	ID: "WATCH-8", Name: "no-tie-break",
	Sentence: "An event is routed to the object's owner, not to the first controller with a matching selector, " +
		"which may be of another kind.",
	Profile: Upstream, Needs: Deliveries | Queues,
	New: On(noTieBreak, sim.Delivery),
}}

var writeLaws = []*Law{{
	ID: "WRITE-1", Name: "one-worker",
	Sentence: "A key is synced by one worker at a time, and changes during a sync are synced afterwards.",
	Profile:  Writing, Needs: Deliveries | Syncs | SettledWorld | Insides,
	New: On(oneWorker, sim.SyncStart, sim.Settled),
}, {
	ID: "WRITE-2", Name: "any-order",
	Sentence: "Controllers that see changes of different kinds in another order than they happened still " +
		"converge.",
	Profile: Writing, Needs: Commits | Deliveries | SettledWorld,
	New: converges(func(p *process) bool { return p.reordered }, "saw kinds in another order"),
}, {
	ID: "WRITE-3", Name: "level-driven",
	Sentence: "Controllers that were down, paused or late for a while still converge.",
	Profile:  Writing, Needs: Commits | SettledWorld,
	New: converges(func(p *process) bool { return p.wasOff }, "was off for a while"),
}, {
	ID: "WRITE-4", Name: "shared-informers",
	Sentence: "A sync reads collections from shared informers, not from the server.",
	Profile:  Writing, Needs: Reads | Syncs,
	New: On(sharedInformers, sim.Read),
}, {
	ID: "WRITE-5", Name: "never-mutate",
	Sentence: "An object in a cache is never changed in place.",
	Profile:  Writing, Needs: Reads | Syncs | SettledWorld | Insides,
	New: On(neverMutate, sim.Mutation, sim.SyncEnd),
}, {
	ID: "WRITE-6", Name: "wait-for-caches",
	Sentence: "A process writes nothing before every cache it reads has had its initial list.",
	Profile:  Writing, Needs: Commits | Deliveries | Syncs | SettledWorld | Insides,
	New: newWaitForCaches,
}, {
	ID: "WRITE-7", Name: "tolerate-other-writers",
	Sentence: "Controllers converge although others change their dependents.",
	Profile:  Writing, Needs: Commits | SettledWorld,
	New: converges(func(p *process) bool { return p.disturbed }, "had others change what it manages"),
}, {
	ID: "WRITE-8", Name: "retry-errors",
	Sentence: "A failed sync is retried with backoff until it succeeds, and failed dependents are replaced with " +
		"backoff.",
	Profile: Writing, Needs: Deliveries | Syncs | SettledWorld | Insides,
	New: On(retryErrors, sim.SyncEnd, sim.Commit, sim.Settled),
}, {
	ID: "WRITE-9", Name: "skip-resyncs",
	Sentence: "An update of a dependent with an unchanged resourceVersion enqueues nothing.",
	Profile:  Writing, Needs: Deliveries | Queues,
	New: On(skipResyncs, sim.Delivery),
}}

var gcLaws = []*Law{{
	ID: "GC-1", Name: "collect-without-owner",
	Sentence: "(a) Once settled, every object with owners has one that exists, and no object with another owner " +
		"keeps a reference to a deleted one. (b) The garbage collector removes no reference to an existing owner. (c) " +
		"Its deletions also delete dependents, unless a finalizer of the object orphans them.",
	Needs: Commits | Reads | Deliveries | SettledWorld | Table,
	New:   On(collectAll, sim.Commit, sim.Settled),
}, {
	ID: "GC-2", Name: "foreground-owner-waits",
	Sentence: "In a foreground deletion the owner stays until its last blocking dependent is gone, and no " +
		"longer.",
	Needs: Commits | Deliveries | Syncs | SettledWorld,
	New:   On(foregroundWaits, sim.Commit, sim.Settled),
}, {
	ID: "GC-3", Name: "orphan-before-removal",
	Sentence: "In an orphaning deletion every dependent loses its reference before the owner is removed, and " +
		"the owner is removed.",
	Needs: Commits | Deliveries | Syncs | SettledWorld, Races: true,
	New: On(orphanFirst, sim.Commit, sim.Settled),
}, {
	ID: "GC-4", Name: "orphans-survive",
	Sentence: "A dependent at the time of an accepted orphaning deletion is never deleted because of that owner, " +
		"except by the owner's controller while its own finalizer is on the owner.",
	Needs: Commits | Reads | Deliveries | Syncs, Races: true,
	New: On(orphansSurvive, sim.Commit),
}, {
	ID: "GC-5", Name: "check-before-collecting",
	Sentence: "The garbage collector deletes an object only after it has verified that each owner, by UID, is " +
		"gone or waits for the object.",
	Needs: Commits | Reads | Deliveries,
	New:   On(checkFirst, sim.Commit),
}, {
	ID: "GC-6", Name: "resolve-unseen-owners",
	Sentence: "(a) References to owners that no informer has shown are resolved. (b) Owners that wait for each " +
		"other do not wait forever. (c) The garbage collector clears blockOwnerDeletion only to break such a cycle.",
	Needs: Commits | Deliveries | SettledWorld | Table,
	New:   On(resolveAll, sim.Commit, sim.Settled),
}, {
	ID: "GC-7", Name: "ignore-owners-across-namespaces",
	Sentence: "(a) An owner in another namespace counts as gone. (b) It causes no deletion of an object with an " +
		"owner in reach, without owners, or without a namespace.",
	Needs: Commits | Reads | SettledWorld | Table,
	New:   On(spareInnocent, sim.Commit, sim.Settled),
}, {
	ID: "GC-8", Name: "remaining-owner-keeps",
	Sentence: "If one owner of an object waits for its deletion and another does not, the object is kept, and loses " +
		"the reference to the waiting owner.",
	Needs: Commits | Reads | SettledWorld | Table,
	New:   On(solidWins, sim.Commit, sim.Settled),
}, {
	ID: "GC-9", Name: "collect-by-uid",
	Sentence: "Every deletion by the garbage collector carries the UID of the object.",
	Needs:    Commits,
	New:      On(deleteByUID, sim.Commit),
}}

var finalizerLaws = []*Law{{
	ID: "FIN-1", Name: "finalizers-hold",
	Sentence: "An object with finalizers stays until each finalizer is removed by the controller that added it.",
	Needs:    Commits,
	Unchecked: "what the server enforces by itself; that a controller which declares no finalizers takes off only " +
		"its own: it may take off any but the server's, and those that others declare or the user adds to an object",
	New: On(finalizersHold, sim.Commit),
}, {
	ID: "FIN-3", Name: "keep-objects-in-use",
	Sentence: "A finalizer that protects an object in use stays while the object is used, and is removed only after " +
		"a live read of the objects that may use it.",
	Needs: Commits | Reads | Deliveries | Syncs,
	New:   On(usedIsKept, sim.Commit),
}}

var namespaceLaws = []*Law{{
	ID: "NS-1", Name: "empty-before-removal",
	Sentence: "A terminating namespace is emptied, pods first, and removed when nothing is left; no other " +
		"namespace is touched.",
	Needs: Commits | SettledWorld,
	New:   On(drainFirst, sim.Commit, sim.Settled),
}}
