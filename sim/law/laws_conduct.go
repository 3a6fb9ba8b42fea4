package law

import "github.com/threelaws/threelaws/sim"

var watchLaws = []*Law{{
	ID: "WATCH-1", Name: "owner-alone", Category: Routing, Source: proposal + "Watches",
	Sentence: "An event on an owned object syncs the owner that kind, name and uid point to, and nobody else.",
	Profile:  Upstream, Needs: Deliveries,
	New: On(ownerAlone, sim.Delivery),
}, {
	ID: "WATCH-2", Name: "own-expectations", Category: Routing, Source: proposal + "Watches",
	Sentence: "An event moves the expectations of the object's owner only.",
	Profile:  Upstream, Needs: Deliveries,
	New: On(ownExpectations, sim.Delivery),
}, {
	ID: "WATCH-3", Name: "tell-the-old-owner", Category: Routing, Source: proposal + "Watches",
	Sentence: "An update that takes the ControllerRef away or changes it syncs the old owner, and every match if " +
		"the object is an orphan now.",
	Profile: Upstream, Needs: Deliveries,
	New: On(tellOldOwner, sim.Delivery),
}, {
	ID: "WATCH-4", Name: "offer-new-orphans", Category: Routing, Source: proposal + "Watches",
	Sentence: "A new orphan syncs every controller that selects it and moves no expectations.",
	Profile:  Upstream, Needs: Deliveries,
	New: On(offerOrphans, sim.Delivery),
}, {
	ID: "WATCH-5", Name: "ignore-lost-orphans", Category: Routing, Source: proposal + "Watches",
	Sentence: "A deleted orphan syncs nobody and moves no expectations.",
	Profile:  Upstream, Needs: Deliveries,
	New: On(ignoreLostOrphans, sim.Delivery),
}, {
	ID: "WATCH-6", Name: "offer-relabelled-orphans", Category: Routing, Source: proposal + "Watches",
	Sentence: "An updated orphan syncs every controller that selects it if its labels changed, and nobody if not.",
	Profile:  Upstream, Needs: Deliveries,
	New: On(relabelOffers, sim.Delivery),
}, {
	ID: "WATCH-7", Name: "never-hang", Category: Liveness, Source: proposal + "Watches",
	Sentence: "No controller waits for something that nothing under way can bring.",
	Profile:  Upstream, Needs: Rest,
	Unasked: "controllers that do not say what they wait for",
	New:     On(neverHang, sim.Stuck, sim.Settled),
}, {
	ID: "WATCH-8", Name: "no-tie-break", Category: Routing, Source: proposal + "Watches",
	Sentence: "An event goes to the owner, not to the first of the controllers that match: that one may be of the " +
		"wrong kind.",
	Profile: Upstream, Needs: Deliveries,
	New: On(noTieBreak, sim.Delivery),
}}

var writeLaws = []*Law{{
	ID: "WRITE-1", Name: "one-worker", Category: Safety, Source: writing + "1",
	Sentence: "A key is synced by one worker at a time, and what changed meanwhile is synced afterwards.",
	Profile:  Writing, Needs: Deliveries | Syncs | Rest,
	New: On(oneWorker, sim.SyncStart, sim.Settled),
}, {
	ID: "WRITE-2", Name: "any-order", Category: Liveness, Source: writing + "2",
	Sentence: "Controllers that see changes of different kinds in another order than they happened come to the " +
		"right end all the same.",
	Profile: Writing, Needs: Commits | Deliveries | Rest,
	New: converges(func(p *process) bool { return p.reordered }, "saw kinds in another order"),
}, {
	ID: "WRITE-3", Name: "level-driven", Category: Liveness, Source: writing + "3",
	Sentence: "Controllers that were off, blind or late for a while come to the right end all the same.",
	Profile:  Writing, Needs: Commits | Rest,
	New: converges(func(p *process) bool { return p.wasOff }, "was off for a while"),
}, {
	ID: "WRITE-4", Name: "shared-informers", Category: Data, Source: writing + "4",
	Sentence: "A sync reads collections from the shared informers, not from the server.",
	Profile:  Writing, Needs: Reads,
	New: On(sharedInformers, sim.Read),
}, {
	ID: "WRITE-5", Name: "never-mutate", Category: Safety, Source: writing + "5",
	Sentence: "An object in a cache is never changed in place.",
	Profile:  Writing, Needs: Reads | Syncs | Rest,
	New: On(neverMutate, sim.Mutation, sim.SyncEnd),
}, {
	ID: "WRITE-6", Name: "wait-for-caches", Category: Safety, Source: writing + "6",
	Sentence: "A process writes nothing before every cache it reads has had its initial list.",
	Profile:  Writing, Needs: Commits | Deliveries | Rest,
	New: newWaitForCaches,
}, {
	ID: "WRITE-7", Name: "others-act", Category: Liveness, Source: writing + "7",
	Sentence: "Controllers come to the right end although others change what they manage.",
	Profile:  Writing, Needs: Commits | Rest,
	New: converges(func(p *process) bool { return p.disturbed }, "had others change what it manages"),
}, {
	ID: "WRITE-8", Name: "retry-errors", Category: Liveness, Source: writing + "8",
	Sentence: "A sync that failed is retried, with backoff, until it succeeds.",
	Profile:  Writing, Needs: Deliveries | Syncs | Rest,
	New: On(retryErrors, sim.SyncEnd, sim.Settled),
}, {
	ID: "WRITE-9", Name: "skip-resyncs", Category: Liveness, Source: writing + "9",
	Sentence: "An update of a dependent whose resource version is the same syncs nobody.",
	Profile:  Writing, Needs: Deliveries,
	New: On(skipResyncs, sim.Delivery),
}}

var gcLaws = []*Law{{
	ID: "GC-1", Name: "collect-the-ownerless", Category: Liveness,
	Source: gcDesign + "Cascading deletion with Garbage Collector",
	Sentence: "At rest no object is left whose owners are all gone, and none with another owner keeps a reference " +
		"to one that is gone; no reference to an owner that is there is taken off.",
	Needs: Commits | Reads | Deliveries | Rest | Table,
	New:   On(collectAll, sim.Commit, sim.Settled),
}, {
	ID: "GC-2", Name: "owner-waits", Category: Liveness, Source: "synchronous-garbage-collection.md",
	Sentence: "In a foreground deletion the owner stays until the last dependent that blocks it is gone, and no " +
		"longer.",
	Needs: Commits | Deliveries | Syncs | Rest,
	New:   On(foregroundWaits, sim.Commit, sim.Settled),
}, {
	ID: "GC-3", Name: "orphan-before-going", Category: Liveness, Source: gcDesign + "Part II: the orphan finalizer",
	Sentence: "In an orphaning deletion every dependent loses its reference before the owner goes, and the owner " +
		"does go.",
	Needs: Commits | Deliveries | Syncs | Rest,
	New:   On(orphanFirst, sim.Commit, sim.Settled),
}, {
	ID: "GC-4", Name: "orphans-survive", Category: Safety, Source: gcDesign + "Part II: the orphan finalizer",
	Sentence: "What depended on an object when its orphaning deletion was accepted is never deleted because of that " +
		"object.",
	Needs: Commits | Reads | Deliveries | Syncs,
	New:   On(orphansSurvive, sim.Commit),
}, {
	ID: "GC-5", Name: "check-before-collecting", Category: Safety, Source: gcCode + "attemptToDeleteItem",
	Sentence: "The collector deletes an object only when it has made sure that each of its owners, by uid, is gone " +
		"or waits for it.",
	Needs: Commits | Reads | Deliveries,
	New:   On(checkFirst, sim.Commit),
}, {
	ID: "GC-6", Name: "resolve-the-unseen", Category: Liveness, Source: gcCode + "attemptToDeleteItem",
	Sentence: "Owners that no informer ever showed are resolved, and owners that wait for each other do not wait " +
		"for ever.",
	Needs: Commits | Deliveries | Rest | Table,
	New:   On(resolveAll, sim.Settled),
}, {
	ID: "GC-7", Name: "spare-the-innocent", Category: Safety, Source: gcCode + "namespace of owner references",
	Sentence: "An owner in another namespace counts as gone, and nothing that lacks owners or has one in reach is " +
		"deleted because of it.",
	Needs: Commits | Reads | Rest | Table,
	New:   On(spareInnocent, sim.Commit, sim.Settled),
}, {
	ID: "GC-8", Name: "solid-owner-wins", Category: Liveness, Source: gcCode + "attemptToDeleteItem",
	Sentence: "An object with an owner that waits for it and another that does not is kept and drops the waiting one.",
	Needs:    Commits | Reads | Rest | Table,
	New:      On(solidWins, sim.Commit, sim.Settled),
}, {
	ID: "GC-9", Name: "collect-by-uid", Category: Safety, Source: gcCode + "deleteObject",
	Sentence: "Every deletion by the collector carries the uid of what it means to delete.",
	Needs:    Commits,
	New:      On(deleteByUID, sim.Commit),
}}

var finalizerLaws = []*Law{{
	ID: "FIN-1", Name: "finalizers-hold", Category: Safety,
	Source:   "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with finalizers",
	Sentence: "An object with finalizers stays until whoever put each of them there takes it off.",
	Needs:    Commits,
	Unasked: "what the server enforces by itself; that a controller which declares no finalizers takes off only " +
		"its own: it may take off any but the server's and those that others declare",
	New: On(finalizersHold, sim.Commit),
}}

var placeLaws = []*Law{{
	ID: "KIND-DS", Name: "one-on-each-node", Category: Liveness, Source: proposal + "DaemonSet",
	Sentence: "At rest a DaemonSet has one active pod of its own for each node that is eligible, and none elsewhere.",
	Needs:    Commits | Rest,
	New:      On(oneOnEach, sim.Settled),
}, {
	ID: "PODGC-1", Name: "spare-what-can-run", Category: Safety, Source: "pkg/controller/podgc (v1.36)",
	Sentence: "The pod garbage collector removes pods that cannot run any more, having said so in their status, and " +
		"no others.",
	Needs: Commits | Reads | Deliveries,
	New:   On(sparing, sim.Commit),
}}

var namespaceLaws = []*Law{{
	ID: "NS-1", Name: "drain-before-going", Category: Liveness, Source: "pkg/controller/namespace/deletion (v1.36)",
	Sentence: "A namespace that is being deleted is emptied, its Pods first, and goes when nothing is left in it; " +
		"no other is touched.",
	Needs: Commits | Rest,
	New:   On(drainFirst, sim.Commit, sim.Settled),
}}
