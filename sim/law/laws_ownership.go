package law

import "github.com/threelaws/threelaws/sim"

var apiLaws = []*Law{{
	ID: "API-1", Name: "one-controller",
	Sentence: "A stored object has at most one owner reference with controller set to true.",
	Needs:    Commits,
	New:      On(oneController, sim.Commit),
}, {
	ID: "API-2", Name: "only-true-controls",
	Sentence: "An owner reference without controller set to true is no ControllerRef and does not prevent an " +
		"adoption.",
	Needs:     Commits,
	Unchecked: "refusals other than the server's own message",
	New:       On(onlyTrueControls, sim.Refusal),
}, {
	ID: "API-3", Name: "complete-references",
	Sentence: "Every stored owner reference has an apiVersion, a kind, a name and a UID, and does not refer to " +
		"an Event.",
	Needs: Commits,
	New:   On(completeRefs, sim.Commit),
}, {
	ID: "API-4", Name: "one-winner",
	Sentence: "If several controllers adopt an orphan at once, one write succeeds; the others do not take the " +
		"object from its new owner.",
	Needs: Commits | Reads,
	New:   On(oneWinner, sim.Commit),
}, {
	ID: "API-5", Name: "restart-moves-nothing",
	Sentence:  "A restarted controller takes no object from an owner that exists and selects it.",
	Needs:     Commits | Reads | SettledWorld,
	Unchecked: "changes after the next user action",
	New:       On(restartMovesNothing, sim.Commit, sim.FaultHit),
}, {
	ID: "API-6", Name: "replace-takes-over",
	Sentence: "A controller that replaces a list of owner references sends the resourceVersion it read, or it " +
		"may overwrite the adoption of another.",
	Needs: Commits,
	New:   On(replacesVersion, sim.Commit),
}}

var threeLaws = []*Law{{
	ID: "LAW-1", Name: "take-ownership",
	Sentence: "(a) A controller creates its dependents with a ControllerRef to their owner, or to another dependent of " +
		"this owner. Only an object that all its owners share may have plain references instead, and it has the first " +
		"one from the first write on. (b) A ControllerRef that it writes has the owner's UID, kind, name and " +
		"apiVersion. (c) That owner is in reach. (d) A controller of kube-controller-manager adopts with " +
		"blockOwnerDeletion set. (e) No object refers to its own dependent.",
	Needs:   Commits,
	Outside: true,
	New:     On(takeOwnership, sim.Commit),
}, {
	ID: "LAW-1b", Name: "claim-orphans-only",
	Sentence: "A controller claims an object that it did not create only while the object has no ControllerRef.",
	Needs:    Commits,
	Outside:  true,
	New:      On(claimOrphansOnly, sim.Commit),
}, {
	ID: "LAW-2", Name: "dont-interfere",
	Sentence: "(a) A controller does not edit, scale or delete an object of another controller, or one that is " +
		"not its own. (b) It may adopt an orphan and remove its own reference, and then changes only that " +
		"reference; if it finds orphans by name, the same write may edit them. (c) It removes no other owner's " +
		"reference from its own objects.",
	Needs:   Commits,
	Outside: true,
	New:     On(dontInterfere, sim.Commit),
}, {
	ID: "LAW-3", Name: "dont-share",
	Sentence:  "A controller counts only objects that it owns, both for the number it wants and in its status.",
	Needs:     Commits | Reads | Deliveries | Syncs | SettledWorld,
	Unchecked: "that a status counts enough (EXACT-8), and status fields that the contract does not name",
	New:       On(dontShare, sim.Commit, sim.Settled),
}}

var fightLaws = []*Law{{
	ID: "NOFIGHT-1", Name: "never-fight",
	Sentence:  "Without interference, controllers settle: no state of the cluster recurs with a write in between.",
	Needs:     Commits | SettledWorld,
	Unchecked: "endless writes without a recurring state",
	New:       On(neverFight, sim.Fighting, sim.Settled),
}, {
	ID: "NOFIGHT-2", Name: "few-handovers",
	Sentence: "Between two user actions, an object with unchanged labels changes owners at most as often as the " +
		"scenario allows, by default once.",
	Needs: Commits,
	New:   newHandovers,
}, {
	ID: "NOFIGHT-3", Name: "exact-sum",
	Sentence: "Controllers with the same selector settle with exactly the active dependents that they want in " +
		"total, each with its own.",
	Needs: Commits | SettledWorld,
	New:   On(exactSum, sim.Settled),
}}

var adoptLaws = []*Law{{
	ID: "ADOPT-1", Name: "adopt-matching-only",
	Sentence: "A controller adopts only objects in its namespace that its selector matches; a StatefulSet, only " +
		"pods that are also named like its own.",
	Needs: Commits,
	New:   On(adoptMatching, sim.Commit),
}, {
	ID: "ADOPT-2", Name: "adopt-all-matching",
	Sentence: "Once settled, no orphan is left that a controller selects and would adopt.",
	Profile:  Upstream, Needs: Commits | SettledWorld,
	New: On(adoptAll, sim.Settled),
}, {
	ID: "ADOPT-3", Name: "status-only-when-terminating",
	Sentence: "For a terminating object, its controller only writes status; while its own finalizer holds the " +
		"object it may delete its dependents.",
	Needs: Commits | Reads | Syncs, FromSettled: true,
	New: On(statusOnly, sim.Commit),
}, {
	ID: "ADOPT-4", Name: "recheck-before-adopting",
	Sentence: "Before the first adoption of a sync, the controller reads its own object live and finds the same " +
		"UID and no deletionTimestamp.",
	Profile: Upstream, Needs: Commits | Reads | Syncs, Races: true,
	New: On(recheck, sim.Commit),
}, {
	ID: "ADOPT-5", Name: "skip-terminating-orphans",
	Sentence:  "A terminating object is not adopted.",
	Needs:     Commits | Reads,
	Unchecked: "server-side applies of controllers that find orphans by name",
	New:       On(sparesDying, sim.Commit),
}, {
	ID: "ADOPT-6", Name: "losers-stay-away",
	Sentence:  "A controller that lost the race for an orphan leaves the object alone afterwards.",
	Needs:     Commits | Reads | Syncs,
	Unchecked: "losers whose write was not refused",
	New:       newLosers,
}, {
	ID: "ADOPT-7", Name: "orphans-stay-orphans",
	Sentence: "A controller object that is being deleted does not adopt what its orphan finalizer has orphaned.",
	Needs:    Commits | Reads | Syncs,
	New:      On(orphansStayOrphans, sim.Commit),
}, {
	ID: "ADOPT-8", Name: "recreated-is-another",
	Sentence: "A recreated controller object (same name, new UID) inherits nothing from the old object, and a " +
		"decision made for one of them is not applied to the other.",
	Needs: Commits | Reads | Syncs, FromSettled: true,
	Unchecked: "inheritance by other means than a write",
	New:       On(successor, sim.Commit),
}}

var orphanLaws = []*Law{{
	ID: "ORPHAN-1", Name: "release-non-matching",
	Sentence: "A controller releases the objects that no longer match, and no others, and removes only its own " +
		"reference from them.",
	Needs: Commits | SettledWorld,
	New:   On(release, sim.Commit, sim.Settled),
}, {
	ID: "ORPHAN-2", Name: "release-tolerates-gone",
	Sentence: "A release that finds the object deleted or recreated is a success.",
	Needs:    Commits | Reads | Syncs | Insides,
	New:      On(releaseTolerates, sim.SyncEnd),
}, {
	ID: "ORPHAN-3", Name: "policy-decides",
	Sentence: "After a controller object is gone, its dependents are orphaned or gone, as the deletion policy " +
		"said.",
	Needs: Commits | SettledWorld | Table,
	New:   On(policyDecides, sim.Settled),
}, {
	ID: "ORPHAN-4", Name: "any-owner-counts",
	Sentence: "The garbage collector treats a ControllerRef like any other owner reference.",
	Needs:    Commits | Reads | SettledWorld | Table,
	New:      On(bitBlind, sim.Commit, sim.Settled),
}}
