package clause

var exactClauses = []Clause{
	{ID: "EXACT-1", Kind: Safety, About: Wanting, Before: "it counts every object that it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)",
		Sentence: "A controller's own delete never leaves its owner with fewer active dependents than wanted, not " +
			"even for a moment. The wanted number is what the controller had seen (informed), or what is " +
			"stored (committed)."},
	{ID: "EXACT-2", Kind: Safety, About: Wanting, Before: "it counts every object that it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)",
		Sentence: "A controller's own create never brings the active dependents above the wanted number plus the " +
			"declared surge, not even for a moment."},
	{ID: "EXACT-3", Kind: Safety, About: Identified, Source: "threelaws, EXACT: kubernetes#59848",
		Sentence: "At most one active dependent has each identity that the controller declares: a name, ordinal, " +
			"node, index or scheduled time."},
	{ID: "EXACT-4", Kind: Safety, About: Owners,
		Source: "threelaws, EXACT: kubernetes PR#138818; attemptToDeleteItem (v1.36)",
		Sentence: "A decision for one incarnation (UID) of an owner or dependent is never applied to another of the " +
			"same name."},
	{ID: "EXACT-5", Kind: Safety, About: Owners, Source: "threelaws, EXACT: kubernetes#59848; Sieve, stale state",
		Sentence: "A controller deletes, scales down or overwrites nothing on a view older than one that this " +
			"process, or an earlier life of it, had been shown."},
	{ID: "EXACT-6", Kind: Liveness, About: Finalizing, Source: "threelaws, EXACT: finalizers",
		Sentence: "Once settled, no object is terminating that only finalizers of running controllers or of the " +
			"system hold."},
	{ID: "EXACT-7", Kind: Liveness, About: Anybody, Before: "two of them undo each other's work forever",
		Source: "controller-ref.md, Goals",
		Sentence: "A world without interference settles. The violation names the last error. Endless writes are " +
			"NOFIGHT-1, even if the state grows and never recurs. A heartbeat counts as settled."},
	{ID: "EXACT-7b", Kind: Safety, About: Anybody, Source: "Writing Controllers, guideline 8",
		Sentence: "A sync does not panic, and no program ends with a panic."},
	{ID: "EXACT-8", Kind: Safety, About: Counting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law",
		Sentence: "A status counts owned objects exactly, such as replicas, ready and available. It is neither " +
			"above (LAW-3) nor below what the controller had been shown."},
	{ID: "EXACT-9", Kind: Safety, About: Named,
		Source: "pkg/controller/history, pkg/controller/statefulset (v1.36)",
		Sentence: "(a) A dependent is created after the revision and the claims that it needs, and not while one of " +
			"them is terminating. (b) A revision that an existing dependent needs is not deleted.",
		Only: []string{"statefulset", "daemonset"}},
	{ID: "EXACT-10", Kind: Safety, About: Named,
		Source: "pkg/controller/statefulset, claim retention (v1.36)",
		Sentence: "Objects that must be deleted with a dependent are tied to it before its controller deletes it. A " +
			"pod that a scale-down deletes owns its claims by then.",
		Only: []string{"statefulset"}},
	{ID: "EXACT-11", Kind: Safety, About: Named,
		Source: "pkg/controller/deployment, rolling.go and recreate.go; daemon, update.go; statefulset (v1.36)",
		Sentence: "A rollout stays within its bounds. (a) The ReplicaSets of a Deployment together ask for at most " +
			"`replicas` plus `maxSurge` pods. Old ones are not scaled down below what `maxUnavailable` " +
			"allows. With Recreate no new one grows while an old one has pods. (b) A Job deletes no running " +
			"pod that it needs. (c) A CronJob deletes no running Job before its next scheduled time, and " +
			"keeps the last finished ones. (d) An update of a DaemonSet makes no more nodes unavailable, and " +
			"gives no more nodes two pods, than its strategy allows. (e) An update of a StatefulSet takes the " +
			"next pod when those above it are available, and leaves those below its partition alone. The pods " +
			"of an ordered set are created and deleted in order.",
		Only: []string{"deployment", "job", "cronjob", "daemonset", "statefulset"}},
	{ID: "EXACT-12", Kind: Safety, About: Named, Source: "pkg/controller/job, tracking with finalizers (v1.36)",
		Sentence: "A finished pod is counted once, by its UID. A Job's status never counts more succeeded and " +
			"failed pods than there were. This includes pods that it lists as not yet counted.",
		Only: []string{"job"}},
	{ID: "EXACT-13", Kind: Liveness, About: Anybody, Source: "Writing Controllers, guideline 3",
		Sentence: "The user's actions alone decide the settled state: its kinds, numbers, specs and states equal " +
			"those of a quiet run of the same actions.",
		Tests: []string{"scenarios.TestSameEnd"}},
}
