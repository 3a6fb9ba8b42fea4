package law

import "github.com/threelaws/threelaws/sim"

var restLaws = []*Law{{
	ID: ComeToRest, Name: "come-to-rest",
	Sentence: "Left alone, controllers come to rest: no queue, timer or retry keeps a world going for ever.",
	Needs:    Rest,
	New:      On(comeToRest, sim.Unsettled, sim.Settled),
}, {
	ID: SameEnd, Name: "same-end",
	Sentence: "What the user does decides what the settled world holds: it is that of a quiet run of the same actions.",
	Needs:    Rest,
	Unasked:  "worlds in which quiet runs end in different ways, where they differ",
	Where:    "scenarios.TestSameEnd",
}, {
	ID: "EXACT-7b", Name: "never-panic",
	Sentence: "A sync does not panic, and no program ends by it.",
	Needs:    Syncs, Ends: true,
	New: On(neverPanic, sim.SyncEnd, sim.FaultHit, sim.Settled),
}}

// exactLaws are about what no rest shows: nothing on the way may be overdone,
// stuck or misdirected. Any controller owes them. They stand behind the others, so
// that of two laws that break at one record the one that says more of what is
// wrong comes first.
var exactLaws = []*Law{{
	ID: "EXACT-1", Name: "never-too-few",
	Needs: Commits | Reads | Deliveries | Syncs,
	Sentence: "A controller's own delete never leaves fewer active dependents than their owner wants, not even for " +
		"a moment.",
	New: On(neverTooFew, sim.Commit),
}, {
	ID: "EXACT-2", Name: "never-too-many",
	Needs: Commits | Reads | Deliveries,
	Sentence: "A controller's own create never brings the active dependents above what their owner wants and the " +
		"surge that is declared, not even for a moment.",
	Outside: true,
	New:     On(neverTooMany, sim.Commit),
}, {
	ID: "EXACT-3", Name: "one-for-each-identity",
	Needs: Commits | Reads | Deliveries | Syncs | Rest,
	Sentence: "Of the active dependents of one owner no two have the same identity: name, ordinal, node, index or " +
		"scheduled time. Those that it adopted so do not both stay.",
	Unasked: "that of two which are adopted one goes, where the owner does not say how many there are to be",
	New:     On(oneForEach, sim.Commit, sim.Settled),
}, {
	ID: "EXACT-4", Name: "same-incarnation",
	Needs:    Commits | Reads,
	Sentence: "What was decided for one incarnation of an object never lands on another of the same name.",
	New:      On(sameIncarnation, sim.Commit),
}, {
	ID: "EXACT-5", Name: "no-older-view",
	Needs: Commits | Reads | Deliveries | Syncs,
	Sentence: "Nothing is deleted, scaled or overwritten on a view of it that is older than what the process, or an " +
		"earlier life of it, had been shown, and no update without a version takes back what has been changed " +
		"meanwhile.",
	Unasked: "of an operator that deletes, that it keeps what the answers to its own requests told it",
	New:     On(noOlderView, sim.Commit),
}, {
	ID: "EXACT-6", Name: "nothing-stays-terminating",
	Needs:    Commits | Rest,
	Sentence: "At rest nothing is being deleted that only finalizers of running controllers or of the system hold.",
	New:      On(nothingStays, sim.Commit, sim.Settled),
}, {
	ID: "EXACT-8", Name: "exact-status",
	Needs: Commits | Reads | Deliveries | Syncs | Rest,
	Sentence: "A status counts what its owner controls, no more and no less than the controller had been shown, and " +
		"at rest exactly what is there.",
	New: On(exactStatus, sim.Commit, sim.Settled),
}, {
	ID: "EXACT-9", Name: "rest-on-what-stays",
	Needs: Commits | Reads | Deliveries | Syncs,
	Sentence: "No dependent is made that lacks what it is to rest on, or rests on what is going, and what one " +
		"that is there rests on is not deleted.",
	New: promised("EXACT-9", BeforeCreate), promised: true,
}, {
	ID: "EXACT-10", Name: "take-along",
	Needs:    Commits | Reads | Deliveries,
	Sentence: "What is to go with a dependent is tied to it before its controller deletes it.",
	New:      promised("EXACT-10", AtDelete), promised: true,
}, {
	ID: "EXACT-11", Name: "stay-within-bounds",
	Needs: Commits | Reads | Deliveries | Syncs,
	Sentence: "Who scales down or rolls out stays within the bounds of its owner: it never asks for more than is " +
		"wanted and the surge allows, gives up nothing that works where too little of it would be left or before its " +
		"successor is due, and starts nothing beside what is to go first.",
	Unasked: "how a change of the owner's own size is shared out",
	New:     promised("EXACT-11", AtWrite), promised: true,
}, {
	ID: "EXACT-12", Name: "count-once",
	Needs:    Commits | Reads | Deliveries | Syncs,
	Sentence: "What a status counts for good, of those that are gone as well, it counts once.",
	New:      newOnce,
}}
