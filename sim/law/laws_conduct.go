package law

import "github.com/threelaws/threelaws/sim"

var watchLaws = []*Law{{
	ID: "WATCH-1", Name: "owner-alone",
	Sentence: "An event on an owned object syncs the owner that kind, name and uid point to, and nobody else.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(ownerAlone, sim.Delivery),
}, {
	ID: "WATCH-2", Name: "own-expectations",
	Sentence: "An event moves the expectations of the object's owner only.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(ownExpectations, sim.Delivery),
}, {
	ID: "WATCH-3", Name: "tell-the-old-owner",
	Sentence: "An update that takes the ControllerRef away or changes it syncs the old owner, and every match if " +
		"the object is an orphan now.",
	Profile: Upstream, Needs: Deliveries | Queues,
	New: On(tellOldOwner, sim.Delivery),
}, {
	ID: "WATCH-4", Name: "offer-new-orphans",
	Sentence: "A new orphan syncs every controller that selects it and moves no expectations.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(offerOrphans, sim.Delivery),
}, {
	ID: "WATCH-5", Name: "ignore-lost-orphans",
	Sentence: "A deleted orphan syncs nobody and moves no expectations.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(ignoreLostOrphans, sim.Delivery),
}, {
	ID: "WATCH-6", Name: "offer-relabelled-orphans",
	Sentence: "An updated orphan syncs every controller that selects it if its labels changed, and nobody if not.",
	Profile:  Upstream, Needs: Deliveries | Queues,
	New: On(relabelOffers, sim.Delivery),
}, {
	ID: "WATCH-7", Name: "never-hang",
	Sentence: "No controller waits for something that nothing under way can bring.",
	Profile:  Upstream, Needs: Rest,
	Unasked: "controllers that do not say what they wait for",
	New:     On(neverHang, sim.Stuck, sim.Settled),
}, {
	ID: "WATCH-8", Name: "no-tie-break",
	Sentence: "An event goes to the owner, not to the first of the controllers that match: that one may be of the " +
		"wrong kind.",
	Profile: Upstream, Needs: Deliveries | Queues,
	New: On(noTieBreak, sim.Delivery),
}}

var writeLaws = []*Law{{
	ID: "WRITE-1", Name: "one-worker",
	Sentence: "A key is synced by one worker at a time, and what changed meanwhile is synced afterwards.",
	Profile:  Writing, Needs: Deliveries | Syncs | Rest,
	New: On(oneWorker, sim.SyncStart, sim.Settled),
}, {
	ID: "WRITE-2", Name: "any-order",
	Sentence: "Controllers that see changes of different kinds in another order than they happened come to the " +
		"right end all the same.",
	Profile: Writing, Needs: Commits | Deliveries | Rest,
	New: converges(func(p *process) bool { return p.reordered }, "saw kinds in another order"),
}, {
	ID: "WRITE-3", Name: "level-driven",
	Sentence: "Controllers that were off, blind or late for a while come to the right end all the same.",
	Profile:  Writing, Needs: Commits | Rest,
	New: converges(func(p *process) bool { return p.wasOff }, "was off for a while"),
}, {
	ID: "WRITE-4", Name: "shared-informers",
	Sentence: "A sync reads collections from the shared informers, not from the server.",
	Profile:  Writing, Needs: Reads | Syncs,
	New: On(sharedInformers, sim.Read),
}, {
	ID: "WRITE-5", Name: "never-mutate",
	Sentence: "An object in a cache is never changed in place.",
	Profile:  Writing, Needs: Reads | Syncs | Rest,
	New: On(neverMutate, sim.Mutation, sim.SyncEnd),
}, {
	ID: "WRITE-6", Name: "wait-for-caches",
	Sentence: "A process writes nothing before every cache it reads has had its initial list.",
	Profile:  Writing, Needs: Commits | Deliveries | Syncs | Rest,
	New: newWaitForCaches,
}, {
	ID: "WRITE-7", Name: "others-act",
	Sentence: "Controllers come to the right end although others change what they manage.",
	Profile:  Writing, Needs: Commits | Rest,
	New: converges(func(p *process) bool { return p.disturbed }, "had others change what it manages"),
}, {
	ID: "WRITE-8", Name: "retry-errors",
	Sentence: "A sync that failed is retried, with backoff, until it succeeds, and what has failed is not replaced " +
		"again at once.",
	Profile: Writing, Needs: Deliveries | Syncs | Rest,
	New: On(retryErrors, sim.SyncEnd, sim.Commit, sim.Settled),
}, {
	ID: "WRITE-9", Name: "skip-resyncs",
	Sentence: "An update of a dependent whose resource version is the same syncs nobody.",
	Profile:  Writing, Needs: Deliveries | Queues,
	New: On(skipResyncs, sim.Delivery),
}}

var gcLaws = []*Law{{
	ID: "GC-1", Name: "collect-the-ownerless",
	Sentence: "At rest no object is left whose owners are all gone, and none with another owner keeps a reference " +
		"to one that is gone; no reference to an owner that is there is taken off, and what is collected takes " +
		"along what depends on it, unless its own finalizer says otherwise.",
	Needs: Commits | Reads | Deliveries | Rest | Table,
	New:   On(collectAll, sim.Commit, sim.Settled),
}, {
	ID: "GC-2", Name: "owner-waits",
	Sentence: "In a foreground deletion, asked for or by a finalizer of its own, the owner stays until the last " +
		"dependent that blocks it is gone, and no longer.",
	Needs: Commits | Deliveries | Syncs | Rest,
	New:   On(foregroundWaits, sim.Commit, sim.Settled),
}, {
	ID: "GC-3", Name: "orphan-before-going",
	Sentence: "In an orphaning deletion every dependent loses its reference before the owner goes, and the owner " +
		"does go.",
	Needs: Commits | Deliveries | Syncs | Rest, Races: true,
	New: On(orphanFirst, sim.Commit, sim.Settled),
}, {
	ID: "GC-4", Name: "orphans-survive",
	Sentence: "What depended on an object when its orphaning deletion was accepted is never deleted because of that " +
		"object, except by its controller while that one's own finalizer holds the object.",
	Needs: Commits | Reads | Deliveries | Syncs, Races: true,
	New: On(orphansSurvive, sim.Commit),
}, {
	ID: "GC-5", Name: "check-before-collecting",
	Sentence: "The collector deletes an object only when it has made sure that each of its owners, by uid, is gone " +
		"or waits for it.",
	Needs: Commits | Reads | Deliveries,
	New:   On(checkFirst, sim.Commit),
}, {
	ID: "GC-6", Name: "resolve-the-unseen",
	Sentence: "Owners that no informer ever showed are resolved, and owners that wait for each other do not wait " +
		"for ever; nothing else is kept from blocking its owner.",
	Needs: Commits | Deliveries | Rest | Table,
	New:   On(resolveAll, sim.Commit, sim.Settled),
}, {
	ID: "GC-7", Name: "spare-the-innocent",
	Sentence: "An owner in another namespace counts as gone, and nothing that lacks owners, has one in reach, or is " +
		"in no namespace itself is deleted because of it.",
	Needs: Commits | Reads | Rest | Table,
	New:   On(spareInnocent, sim.Commit, sim.Settled),
}, {
	ID: "GC-8", Name: "solid-owner-wins",
	Sentence: "An object with an owner that waits for it and another that does not is kept and drops the waiting one.",
	Needs:    Commits | Reads | Rest | Table,
	New:      On(solidWins, sim.Commit, sim.Settled),
}, {
	ID: "GC-9", Name: "collect-by-uid",
	Sentence: "Every deletion by the collector carries the uid of what it means to delete.",
	Needs:    Commits,
	New:      On(deleteByUID, sim.Commit),
}}

var finalizerLaws = []*Law{{
	ID: "FIN-1", Name: "finalizers-hold",
	Sentence: "An object with finalizers stays until whoever put each of them there takes it off.",
	Needs:    Commits,
	Unasked: "what the server enforces by itself; that a controller which declares no finalizers takes off only " +
		"its own: it may take off any but the server's and those that others declare",
	New: On(finalizersHold, sim.Commit),
}, {
	ID: "FIN-3", Name: "used-is-kept",
	Sentence: "A finalizer that keeps what is in use is not taken off while something uses it, and not before the " +
		"server was asked whether something does.",
	Needs: Commits | Reads | Deliveries | Syncs,
	New:   On(usedIsKept, sim.Commit),
}}

var placeLaws = []*Law{{
	ID: "KIND-DS", Name: "one-on-each-node",
	Sentence: "At rest a DaemonSet has one active pod of its own for each node that is eligible, and none elsewhere.",
	Needs:    Commits | Rest,
	New:      promised("KIND-DS", WhenSettled), promised: true,
}, {
	ID: "PODGC-1", Name: "spare-what-can-run",
	Sentence: "The pod garbage collector removes pods that cannot run any more, having said so in their status, and " +
		"no others: not those of a node that went a moment ago and may come back.",
	Needs: Commits | Reads | Deliveries,
	New:   promised("PODGC-1", AtWrite), promised: true,
}, {
	ID: "TTL-1", Name: "not-before-its-time",
	Sentence: "Who deletes what others have made when its time is over, as a Job's some while after its end, does so " +
		"then and not before.",
	Needs: Commits | Reads | Deliveries | Rest,
	New:   promised("TTL-1", AtDelete|WhenSettled), promised: true,
}}

var namespaceLaws = []*Law{{
	ID: "NS-1", Name: "drain-before-going",
	Sentence: "A namespace that is being deleted is emptied, its Pods first, and goes when nothing is left in it; " +
		"no other is touched.",
	Needs: Commits | Rest,
	New:   On(drainFirst, sim.Commit, sim.Settled),
}}
