package clause

var exactClauses = []Clause{
	{ID: "EXACT-1", Kind: Safety, About: Wanting, Before: "it counts whatever it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)",
		Sentence: "Not overdone, down: a controller's own delete never leaves fewer active dependents than the owner " +
			"it acts for asks for (the owner as the actor had seen it: informed; as stored: committed). A " +
			"passing shortfall counts."},
	{ID: "EXACT-2", Kind: Safety, About: Wanting, Before: "it counts whatever it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)",
		Sentence: "Not overdone, up: a controller's own create never brings its active dependents above what " +
			"the owner " +
			"asks for plus the surge it declares. A passing surplus counts."},
	{ID: "EXACT-3", Kind: Safety, About: Identified, Source: "threelaws, EXACT: kubernetes#59848",
		Sentence: "An identity is held once: at most one active dependent for each name, ordinal, node, index or " +
			"scheduled time that the controller declares as identity."},
	{ID: "EXACT-4", Kind: Safety, About: Owners,
		Source: "threelaws, EXACT: kubernetes PR#138818; attemptToDeleteItem (v1.36)",
		Sentence: "An action decided for one incarnation (uid) of an object, owner or dependent, never lands on " +
			"another of the same name."},
	{ID: "EXACT-5", Kind: Safety, About: Owners, Source: "threelaws, EXACT: kubernetes#59848; Sieve, stale state",
		Sentence: "No destructive act (delete, scale down, overwrite) on a view older than what this process, or an " +
			"earlier life of it, had been shown of the same object."},
	{ID: "EXACT-6", Kind: Liveness, About: Finalizing, Source: "threelaws, EXACT: finalizers",
		Sentence: "At rest nothing is terminating that only finalizers of running subjects or of the system hold."},
	{ID: "EXACT-7", Kind: Liveness, About: Anybody, Before: "two of them undo each other's work for ever",
		Source: "controller-ref.md, Goals",
		Sentence: "A world that is left alone settles; the breach names the last error. Writes without end are " +
			"NOFIGHT-1, though the state grows and never recurs. What only tells the time is rest."},
	{ID: "EXACT-7b", Kind: Safety, About: Anybody, Source: "Writing Controllers, guideline 8",
		Sentence: "A sync does not panic, and no program ends by it."},
	{ID: "EXACT-8", Kind: Safety, About: Counting, Before: "it counts whatever it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law",
		Sentence: "A status counts owned objects exactly: replicas, ready, available and the like, neither above " +
			"(LAW-3) nor below what the actor had been shown."},
	{ID: "EXACT-9", Kind: Safety, About: Named,
		Source: "pkg/controller/history, pkg/controller/statefulset (v1.36)",
		Sentence: "What a dependent rests on is there and stays: it is made after the revision that it is of and " +
			"the claims that it mounts, on none that is going with its predecessor, and what a living one is of is " +
			"not deleted.",
		Only: []string{"statefulset", "daemonset"}},
	{ID: "EXACT-10", Kind: Safety, About: Named,
		Source: "pkg/controller/statefulset, claim retention (v1.36)",
		Sentence: "What is to go with a dependent is tied to it before its controller deletes it: the claims of a " +
			"pod that a scale-down takes are the pod's by then.",
		Only: []string{"statefulset"}},
	{ID: "EXACT-11", Kind: Safety, About: Named,
		Source: "pkg/controller/deployment, rolling.go and recreate.go; daemon, update.go; statefulset (v1.36)",
		Sentence: "A rollout stays within its bounds: its ReplicaSets together never ask for more pods than " +
			"`replicas` and `maxSurge`, old ones are not scaled down where fewer would be available than " +
			"`maxUnavailable` leaves, and with Recreate no new one grows while an old one has pods. A Job deletes " +
			"no pod at work that it needs, a CronJob no Job at work before the next of its times, " +
			"and of those that have ended none of the last, which it keeps. An update of a " +
			"DaemonSet makes no more of the nodes that are to have a pod unavailable, and gives no more of them two, " +
			"than it says; one of a StatefulSet takes the next pod when those above it are available again, and " +
			"leaves those below its partition alone; the pods of an ordered set come and go in order.",
		Only: []string{"deployment", "job", "cronjob", "daemonset", "statefulset"}},
	{ID: "EXACT-12", Kind: Safety, About: Named, Source: "pkg/controller/job, tracking with finalizers (v1.36)",
		Sentence: "A pod that has ended is counted once, by its uid: what a Job's status says of succeeded and " +
			"failed pods, counted or named as still to be counted, is never more than there have been.",
		Only: []string{"job"}},
	{ID: "EXACT-13", Kind: Liveness, About: Anybody, Source: "Writing Controllers, guideline 3",
		Sentence: "What the user does decides what the settled world holds: kinds, numbers, specs and states are those " +
			"of a quiet run of the same actions.",
		Tests: []string{"scenarios.TestSameEnd"}},
}
