package law

import "github.com/threelaws/threelaws/sim"

var apiLaws = []*Law{{
	ID: "API-1", Name: "one-controller",
	Sentence: "No stored object has more than one owner reference with controller set to true.",
	Needs:    Commits,
	New:      On(oneController, sim.Commit),
}, {
	ID: "API-2", Name: "only-true-controls",
	Sentence: "An owner reference whose controller field is absent or false is no ControllerRef and keeps nobody " +
		"from adopting.",
	Needs:   Commits,
	Unasked: "only what the server refuses with its own words is looked at",
	New:     On(onlyTrueControls, sim.Refusal),
}, {
	ID: "API-3", Name: "complete-references",
	Sentence: "Every stored owner reference has an apiVersion, a kind, a name and a uid, and none names an Event.",
	Needs:    Commits,
	New:      On(completeRefs, sim.Commit),
}, {
	ID: "API-4", Name: "one-winner",
	Sentence: "Of all the adopters that race for an orphan one write lands; an adopter that saw an orphan never " +
		"takes it from the winner.",
	Needs: Commits | Reads,
	New:   On(oneWinner, sim.Commit),
}, {
	ID: "API-5", Name: "restart-moves-nothing",
	Sentence: "A restarted controller takes no object from an owner that is there and selects it.",
	Needs:    Commits | Reads | Rest,
	Unasked:  "what moves after the next action of a user",
	New:      On(restartMovesNothing, sim.Commit, sim.FaultHit),
}, {
	ID: "API-6", Name: "replace-takes-over",
	Sentence: "The server guards only against a second controller: a controller that writes a list of owners in the " +
		"place of the stored one names the version that it read, or takes what another has adopted meanwhile.",
	Needs: Commits,
	New:   On(replacesVersion, sim.Commit),
}}

var threeLaws = []*Law{{
	ID: "LAW-1", Name: "take-ownership",
	Sentence: "What a controller creates for its collection carries its ControllerRef from the first write on, and " +
		"whatever else it creates the reference to its object that it is to have; a ControllerRef that it writes has " +
		"its object's own uid, kind, name and apiVersion, and that object is in reach; one of upstream's adopts " +
		"with a reference that blocks its object's deletion.",
	Needs:   Commits,
	Outside: true,
	New:     On(takeOwnership, sim.Commit),
}, {
	ID: "LAW-1b", Name: "claim-orphans-only",
	Sentence: "A controller claims an object it did not create only while that object has no ControllerRef.",
	Needs:    Commits,
	Outside:  true,
	New:      On(claimOrphansOnly, sim.Commit),
}, {
	ID: "LAW-2", Name: "dont-interfere",
	Sentence: "A controller does not edit, scale or delete an object that is another controller's or not its own, " +
		"except to adopt an orphan or to take back its own reference, and then changes nothing but the " +
		"reference; and from its own it takes no other owner's reference.",
	Needs:   Commits,
	Outside: true,
	New:     On(dontInterfere, sim.Commit),
}, {
	ID: "LAW-3", Name: "dont-share",
	Sentence: "A controller counts only objects it owns toward what it wants, and only those in its status.",
	Needs:    Commits | Reads | Deliveries | Syncs | Rest,
	Unasked:  "that a status counts no fewer than it should (EXACT-8), and fields of it that the subject does not name",
	New:      On(dontShare, sim.Commit, sim.Settled),
}}

var fightLaws = []*Law{{
	ID: "NOFIGHT-1", Name: "never-fight",
	Sentence: "Left alone, controllers come to rest: no state of the cluster recurs with a write in between.",
	Needs:    Commits | Rest,
	Unasked:  "writes without end that never bring a state back",
	New:      On(neverFight, sim.Fighting, sim.Settled),
}, {
	ID: "NOFIGHT-2", Name: "few-handovers",
	Sentence: "Between two actions of a user an object with unchanged labels changes hands no more often than the " +
		"scenario allows, once by default.",
	Needs: Commits,
	New:   newHandovers,
}, {
	ID: "NOFIGHT-3", Name: "exact-sum",
	Sentence: "Controllers with one selector come to rest with exactly as many active dependents as they want " +
		"together, each with its own.",
	Needs: Commits | Rest,
	New:   On(exactSum, sim.Settled),
}}

var adoptLaws = []*Law{{
	ID: "ADOPT-1", Name: "adopt-matching-only",
	Sentence: "A controller adopts only what its selector matches, in its own namespace; a StatefulSet of these only " +
		"what has the name of one of its pods.",
	Needs: Commits,
	New:   On(adoptMatching, sim.Commit),
}, {
	ID: "ADOPT-2", Name: "adopt-all-matching",
	Sentence: "No orphan that a willing controller selects is left an orphan when all is quiet.",
	Profile:  Upstream, Needs: Commits | Rest,
	New: On(adoptAll, sim.Settled),
}, {
	ID: "ADOPT-3", Name: "status-only-when-going",
	Sentence: "For an object that is being deleted its controller writes status and does nothing else, but delete " +
		"what is that object's own while its own finalizer holds it.",
	Needs: Commits | Reads | Syncs, Rested: true,
	New: On(statusOnly, sim.Commit),
}, {
	ID: "ADOPT-4", Name: "recheck-before-adopting",
	Sentence: "Before the first adoption of a sync the adopter reads its own object live and finds the same uid and " +
		"no deletion.",
	Profile: Upstream, Needs: Commits | Reads | Syncs, Races: true,
	New: On(recheck, sim.Commit),
}, {
	ID: "ADOPT-5", Name: "spare-the-dying",
	Sentence: "An object that is being deleted is not adopted.",
	Needs:    Commits | Reads,
	New:      On(sparesDying, sim.Commit),
}, {
	ID: "ADOPT-6", Name: "losers-let-be",
	Sentence: "Who lost the race for an orphan leaves it alone from then on.",
	Needs:    Commits | Reads | Syncs,
	Unasked:  "losers that were not refused",
	New:      newLosers,
}, {
	ID: "ADOPT-7", Name: "orphans-stay-orphans",
	Sentence: "What the orphan finalizer orphaned is not adopted again by the controller that is being deleted.",
	Needs:    Commits | Reads | Syncs,
	New:      On(orphansStayOrphans, sim.Commit),
}, {
	ID: "ADOPT-8", Name: "namesakes-are-strangers",
	Sentence: "A controller object of the same name and another uid inherits nothing, and nothing decided for the " +
		"one is done to the other.",
	Needs: Commits | Reads | Syncs, Rested: true,
	Unasked: "what is inherited by other ways than a write",
	New:     On(successor, sim.Commit),
}}

var orphanLaws = []*Law{{
	ID: "ORPHAN-1", Name: "release-what-left",
	Sentence: "An owned object that no longer matches is released, and no other, by taking the owner's own " +
		"reference off it and nothing else.",
	Needs: Commits | Rest,
	New:   On(release, sim.Commit, sim.Settled),
}, {
	ID: "ORPHAN-2", Name: "release-tolerates-gone",
	Sentence: "A release that finds the object gone or replaced is a success.",
	Needs:    Commits | Reads | Syncs,
	New:      On(releaseTolerates, sim.SyncEnd),
}, {
	ID: "ORPHAN-3", Name: "policy-decides",
	Sentence: "Once a controller object is gone its dependents are orphaned or gone, as the deletion policy said.",
	Needs:    Commits | Rest | Table,
	New:      On(policyDecides, sim.Settled),
}, {
	ID: "ORPHAN-4", Name: "any-owner-counts",
	Sentence: "To the garbage collector a ControllerRef is an owner reference like any other.",
	Needs:    Commits | Reads | Rest | Table,
	New:      On(bitBlind, sim.Commit, sim.Settled),
}}
