package clause

var apiClauses = []Clause{
	{ID: "API-1", Category: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "At most one entry of `metadata.ownerReferences` has `controller: true`. A write that would " +
			"violate this gets 422 `Invalid` with the field's name, and stores nothing. This holds for " +
			"create, update, every patch type, server-side apply, status and scale.",
		Cases: []string{"ownerrefs/second-controller-"}},
	{ID: "API-2", Category: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "`controller` is a pointer with three states. An entry without it, or with `false`, is not a " +
			"ControllerRef.",
		Cases: []string{"ownerrefs/create-controller-true-and-false"}},
	{ID: "API-3", Category: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "An owner reference needs a valid `apiVersion`, `kind`, `name` and `uid`. Kinds that may not own " +
			"(events) are refused.",
		Cases: []string{"ownerrefs/create-"}},
	{ID: "API-4", Category: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "If several controllers adopt an object at once, exactly one write succeeds. All others get an " +
			"error (422 or 409), and the stored object still names the winner."},
	{ID: "API-6", Category: Safety, About: Claimers, Source: "recorded from kube-apiserver v1.36, area ownerrefs",
		Sentence: "The server only refuses to *add* a second controller. A PUT, merge patch or JSON patch that " +
			"*replaces* the list takes over the object of another controller, with 200 (recorded). If a " +
			"controller does this, it violates LAW-1b and LAW-2. The laws report it, not the server.",
		Tests: []string{"sim/law.TestTakeoverByReplacing"},
		Cases: []string{"ownerrefs/second-controller-put-replace"}},
	{ID: "API-5", Category: Data, About: Claimers, Before: "it adopts without a live read",
		Source:   "controller-ref.md, Goals",
		Sentence: "Ownership is stored only in the API object. A restart of any controller, at any point, changes no owner."},
}

var lawClauses = []Clause{
	{ID: "LAW-1", Category: Safety, About: Owners, Before: "it has no ControllerRef",
		Source: "controller-ref.md, The Three Laws of Controllers, First Law",
		Sentence: "Take ownership. (a) Every object that a controller creates for its collection has its " +
			"ControllerRef in the create request. (b) UID, kind, name and apiVersion are the owner's, and a " +
			"namespaced owner is in the object's namespace. (c) An adopted object blocks a foreground " +
			"deletion of its owner."},
	{ID: "LAW-1b", Category: Safety, About: Claimers,
		Source:   "controller-ref.md, The Three Laws of Controllers, First Law",
		Sentence: "A controller claims an object that it did not create only while the object has no ControllerRef."},
	{ID: "LAW-2", Category: Safety, About: Owners, Before: "it writes to every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Second Law",
		Sentence: "Don't interfere. (a) A controller does not edit, scale or delete an object, or write its status, " +
			"if the ControllerRef is not its own. This includes other controllers' own objects. (b) An " +
			"adoption only adds the reference, and a release only removes the controller's own. Neither " +
			"changes another field, above all no finalizer. (c) It removes no other existing owner's " +
			"reference from its own dependents."},
	{ID: "LAW-3", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law",
		Sentence: "Don't share. A controller counts only owned objects, both for the desired state and in its " +
			"status (replicas, ready, available)."},
}

var nofightClauses = []Clause{
	{ID: "NOFIGHT-1", Category: Liveness, About: Anybody, Before: "two of them scale the same objects forever",
		Source: "controller-ref.md, Goals",
		Sentence: "Conforming controllers in a quiet cluster do not write forever. Every reachable state leads to a " +
			"settled state, and no state recurs with a write in between."},
	{ID: "NOFIGHT-2", Category: Safety, About: Claimers, Source: "controller-ref.md, Upgrading",
		Sentence: "Between two user actions an object changes owners only a bounded number of times. The scenario " +
			"sets the bound. It is 1 for an orphan with stable labels."},
	{ID: "NOFIGHT-3", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, Goals",
		Sentence: "Controllers of any kinds with the same selector and replicas r1..rN settle with exactly sum(ri) " +
			"active dependents. Each has one owner."},
}

var adoptClauses = []Clause{
	{ID: "ADOPT-1", Category: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "A controller adopts only objects in its namespace that match its selector. A pod of a " +
			"StatefulSet must also have such a name."},
	{ID: "ADOPT-2", Category: Liveness, About: Claimers, Before: "it adopts nothing",
		Source:   "controller-ref.md, Adoption",
		Sentence: "Once settled, no orphan is left that a controller selects and would adopt."},
	{ID: "ADOPT-3", Category: Safety, About: Owners, Before: "it acts for terminating owners",
		Source: "controller-ref.md, Adoption",
		Sentence: "For an owner with `deletionTimestamp`, a controller adopts nothing and writes only status. It " +
			"may delete its own dependents while its own finalizer holds the owner."},
	{ID: "ADOPT-4", Category: Safety, About: Claimers, Before: "it adopts without a live read",
		Source: "controller-ref.md, Adoption; pkg/controller (v1.36), RecheckDeletionTimestamp",
		Sentence: "ADOPT-3 is checked against the live object (UID and deletionTimestamp), not only the cache, " +
			"before the first adoption of a sync."},
	{ID: "ADOPT-5", Category: Safety, About: Claimers, Before: "it adopts without a live read",
		Source:   "pkg/controller (v1.36), ClaimObject",
		Sentence: "Terminating objects are not adopted."},
	{ID: "ADOPT-6", Category: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "A controller that lost the race for an orphan leaves the object alone afterwards: no delete, no " +
			"edit, no count."},
	{ID: "ADOPT-7", Category: Safety, About: Claimers, Before: "it adopts without a live read",
		Source:   "controller-ref.md, Adoption",
		Sentence: "Objects orphaned by the orphan finalizer are not adopted again by the terminating controller object."},
	{ID: "ADOPT-8", Category: Safety, About: Owners,
		Source: "controller-ref.md, Behavior; pkg/controller (v1.36), ClaimObject",
		Sentence: "A recreated controller object (same name, new UID) is another controller. It inherits nothing by " +
			"name, but may adopt orphans."},
}

var orphanClauses = []Clause{
	{ID: "ORPHAN-1", Category: Liveness, About: Claimers, Before: "it has nothing to release",
		Source: "controller-ref.md, Orphaning",
		Sentence: "An owned object that no longer matches is released. The controller removes its own reference, " +
			"and leaves every other reference and field alone."},
	{ID: "ORPHAN-2", Category: Safety, About: Claimers, Source: "pkg/controller (v1.36), ReleasePod",
		Sentence: "A release succeeds if the object is gone, or if its UID has changed.",
		Tests:    []string{"controllers/internal/ref.TestClaim"}},
	{ID: "ORPHAN-3", Category: Liveness, About: Collector, Source: "controller-ref.md, Orphaning",
		Sentence: "After the deletion of a controller object, its dependents are orphaned or deleted as the " +
			"deletion policy says, by owner references alone."},
	{ID: "ORPHAN-4", Category: Safety, About: Collector, Source: "controller-ref.md, Non-goals",
		Sentence: "The garbage collector treats a ControllerRef like any other owner reference."},
}

var exactClauses = []Clause{
	{ID: "EXACT-1", Category: Safety, About: Wanting, Before: "it counts every object that it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)",
		Sentence: "A controller's own delete never leaves its owner with fewer active dependents than wanted, not " +
			"even for a moment. The wanted number is what the controller had seen (informed), or what is " +
			"stored (committed)."},
	{ID: "EXACT-2", Category: Safety, About: Wanting, Before: "it counts every object that it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)",
		Sentence: "A controller's own create never brings the active dependents above the wanted number plus the " +
			"declared surge, not even for a moment."},
	{ID: "EXACT-3", Category: Safety, About: Identified, Source: "threelaws, EXACT: kubernetes#59848",
		Sentence: "At most one active dependent has each identity that the controller declares: a name, ordinal, " +
			"node, index or scheduled time."},
	{ID: "EXACT-4", Category: Safety, About: Owners,
		Source: "threelaws, EXACT: kubernetes PR#138818; attemptToDeleteItem (v1.36)",
		Sentence: "A decision for one incarnation (UID) of an owner or dependent is never applied to another of the " +
			"same name."},
	{ID: "EXACT-5", Category: Safety, About: Owners, Source: "threelaws, EXACT: kubernetes#59848; Sieve, stale state",
		Sentence: "A controller deletes, scales down or overwrites nothing on a view older than one that this " +
			"process, or an earlier life of it, had been shown."},
	{ID: "EXACT-6", Category: Liveness, About: Finalizing, Source: "threelaws, EXACT: finalizers",
		Sentence: "Once settled, no object is terminating that only finalizers of running controllers or of the " +
			"system hold."},
	{ID: "EXACT-7", Category: Liveness, About: Anybody, Before: "two of them undo each other's work forever",
		Source: "controller-ref.md, Goals",
		Sentence: "A world without interference settles. The violation names the last error. Endless writes are " +
			"NOFIGHT-1, even if the state grows and never recurs. A heartbeat counts as settled."},
	{ID: "EXACT-7b", Category: Safety, About: Anybody, Source: "Writing Controllers, guideline 8",
		Sentence: "A sync does not panic, and no program ends with a panic."},
	{ID: "EXACT-8", Category: Safety, About: Counting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law",
		Sentence: "A status counts owned objects exactly, such as replicas, ready and available. It is neither " +
			"above (LAW-3) nor below what the controller had been shown."},
	{ID: "EXACT-9", Category: Safety, About: Named,
		Source: "pkg/controller/history, pkg/controller/statefulset (v1.36)",
		Sentence: "(a) A dependent is created after the revision and the claims that it needs, and not while one of " +
			"them is terminating. (b) A revision that an existing dependent needs is not deleted.",
		Only: []string{"statefulset", "daemonset"}},
	{ID: "EXACT-10", Category: Safety, About: Named,
		Source: "pkg/controller/statefulset, claim retention (v1.36)",
		Sentence: "Objects that must be deleted with a dependent are tied to it before its controller deletes it. A " +
			"pod that a scale-down deletes owns its claims by then.",
		Only: []string{"statefulset"}},
	{ID: "EXACT-11", Category: Safety, About: Named,
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
	{ID: "EXACT-12", Category: Safety, About: Named, Source: "pkg/controller/job, tracking with finalizers (v1.36)",
		Sentence: "A finished pod is counted once, by its UID. A Job's status never counts more succeeded and " +
			"failed pods than there were. This includes pods that it lists as not yet counted.",
		Only: []string{"job"}},
	{ID: "EXACT-13", Category: Liveness, About: Anybody, Source: "Writing Controllers, guideline 3",
		Sentence: "The user's actions alone decide the settled state: its kinds, numbers, specs and states equal " +
			"those of a quiet run of the same actions.",
		Tests: []string{"scenarios.TestSameEnd"}},
}

var upgradeClauses = []Clause{
	{ID: "UPGRADE-1", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "Without overlapping selectors, upgrade and downgrade change nothing that a user sees, at any " +
			"moment and in any order of the processes. They create and delete no object. After an upgrade " +
			"every dependent has an owner."},
	{ID: "UPGRADE-2", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: a fight before the upgrade stops after it."},
	{ID: "UPGRADE-3", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "Overlap: adoption races may change owners at the upgrade, and split the pods of an owner. The " +
			"report says which."},
	{ID: "UPGRADE-4", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: additional objects may be created after the upgrade (Don't share). The run predicts how many."},
}

var downgradeClauses = []Clause{
	{ID: "DOWNGRADE-1", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: after a downgrade controllers may fight again. The output shows the cycle."},
	{ID: "DOWNGRADE-2", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Overlap: after a downgrade objects may be deleted. The report says which, and by which controller."},
}

var skewClauses = []Clause{
	{ID: "SKEW-1", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "Two eras at once (a rolling upgrade, a slow leader change) keep the same bounds."},
}

var checklistClauses = []Clause{
	{ID: "CHECKLIST", Category: Seen, About: Tool, Source: "controller-ref.md, Implementation",
		Sentence: "The tool prints the proposal's implementation checklist (one row for each controller and " +
			"capability) from the results of its checks. Nobody writes it by hand.",
		Tests: []string{"lab/evidence.TestControllersKeepTheClauses"}},
}
