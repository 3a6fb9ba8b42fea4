package clause

var apiClauses = []Clause{
	{ID: "API-1", Category: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "A write that would add a second one gets 422 `Invalid` with the field's name, and stores nothing. " +
			"This holds for create, update, every patch type, server-side apply, status and scale.",
		Cases: []string{"ownerrefs/second-controller-"}},
	{ID: "API-2", Category: Validation, About: Server, Source: "controller-ref.md, API",
		Cases: []string{"ownerrefs/create-controller-true-and-false"}},
	{ID: "API-3", Category: Validation, About: Server, Source: "controller-ref.md, API",
		Cases: []string{"ownerrefs/create-"}},
	{ID: "API-4", Category: Safety, About: Claimers, Source: "controller-ref.md, Adoption"},
	{ID: "API-6", Category: Safety, About: Claimers, Source: "recorded from kube-apiserver v1.36, area ownerrefs",
		Sentence: "The server refuses only to *add* a second controller. It accepts a PUT, merge patch or " +
			"JSON patch that *replaces* the list. The laws report such a takeover, also as LAW-1b and LAW-2.",
		Tests: []string{"sim/law.TestTakeoverByReplacing"},
		Cases: []string{"ownerrefs/second-controller-put-replace"}},
	{ID: "API-5", Category: Data, About: Claimers, Before: "it adopts without a live read",
		Source: "controller-ref.md, Goals"},
}

var lawClauses = []Clause{
	{ID: "LAW-1", Category: Safety, About: Owners, Before: "it has no ControllerRef",
		Source: "controller-ref.md, The Three Laws of Controllers, First Law"},
	{ID: "LAW-1b", Category: Safety, About: Claimers,
		Source: "controller-ref.md, The Three Laws of Controllers, First Law"},
	{ID: "LAW-2", Category: Safety, About: Owners, Before: "it writes to every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Second Law"},
	{ID: "LAW-3", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law"},
}

var nofightClauses = []Clause{
	{ID: "NOFIGHT-1", Category: Liveness, About: Anybody, Before: "two of them scale the same objects forever",
		Source: "controller-ref.md, Goals"},
	{ID: "NOFIGHT-2", Category: Safety, About: Claimers, Source: "controller-ref.md, Upgrading"},
	{ID: "NOFIGHT-3", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, Goals"},
}

var adoptClauses = []Clause{
	{ID: "ADOPT-1", Category: Safety, About: Claimers, Source: "controller-ref.md, Adoption"},
	{ID: "ADOPT-2", Category: Liveness, About: Claimers, Before: "it adopts nothing",
		Source: "controller-ref.md, Adoption"},
	{ID: "ADOPT-3", Category: Safety, About: Owners, Before: "it acts for terminating owners",
		Source: "controller-ref.md, Adoption"},
	{ID: "ADOPT-4", Category: Safety, About: Claimers, Before: "it adopts without a live read",
		Source: "controller-ref.md, Adoption; pkg/controller (v1.36), RecheckDeletionTimestamp"},
	{ID: "ADOPT-5", Category: Safety, About: Claimers, Before: "it adopts without a live read",
		Source: "pkg/controller (v1.36), ClaimObject"},
	{ID: "ADOPT-6", Category: Safety, About: Claimers, Source: "controller-ref.md, Adoption"},
	{ID: "ADOPT-7", Category: Safety, About: Claimers, Before: "it adopts without a live read",
		Source: "controller-ref.md, Adoption"},
	{ID: "ADOPT-8", Category: Safety, About: Owners,
		Source: "controller-ref.md, Behavior; pkg/controller (v1.36), ClaimObject"},
}

var orphanClauses = []Clause{
	{ID: "ORPHAN-1", Category: Liveness, About: Claimers, Before: "it has nothing to release",
		Source: "controller-ref.md, Orphaning"},
	{ID: "ORPHAN-2", Category: Safety, About: Claimers, Source: "pkg/controller (v1.36), ReleasePod",
		Tests: []string{"controllers/internal/ref.TestClaim"}},
	{ID: "ORPHAN-3", Category: Liveness, About: Collector, Source: "controller-ref.md, Orphaning"},
	{ID: "ORPHAN-4", Category: Safety, About: Collector, Source: "controller-ref.md, Non-goals"},
}

var exactClauses = []Clause{
	{ID: "EXACT-1", Category: Safety, About: Wanting, Before: "it counts every object that it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)"},
	{ID: "EXACT-2", Category: Safety, About: Wanting, Before: "it counts every object that it selects",
		Source: "threelaws, EXACT: work is not overdone; ReplicaSet expectations (v1.36)"},
	{ID: "EXACT-3", Category: Safety, About: Identified, Source: "threelaws, EXACT: kubernetes#59848"},
	{ID: "EXACT-4", Category: Safety, About: Owners,
		Source: "threelaws, EXACT: kubernetes PR#138818; attemptToDeleteItem (v1.36)"},
	{ID: "EXACT-5", Category: Safety, About: Owners, Source: "threelaws, EXACT: kubernetes#59848; Sieve, stale state"},
	{ID: "EXACT-6", Category: Liveness, About: Finalizing, Source: "threelaws, EXACT: finalizers"},
	{ID: "EXACT-7", Category: Liveness, About: Anybody, Before: "two of them undo each other's work forever",
		Source: "controller-ref.md, Goals"},
	{ID: "EXACT-7b", Category: Safety, About: Anybody, Source: "Writing Controllers, guideline 8"},
	{ID: "EXACT-8", Category: Safety, About: Counting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law"},
	{ID: "EXACT-9", Invariant: "needed-objects-exist", Category: Safety, About: Named,
		Source: "pkg/controller/history, pkg/controller/statefulset (v1.36)",
		Only:   []string{"statefulset", "daemonset"}},
	{ID: "EXACT-10", Invariant: "tie-before-deleting", Category: Safety, About: Named,
		Source: "pkg/controller/statefulset, claim retention (v1.36)",
		Only:   []string{"statefulset"}},
	{ID: "EXACT-11", Invariant: "stay-within-bounds", Category: Safety, About: Named,
		Source: "pkg/controller/deployment, rolling.go and recreate.go; daemon, update.go; statefulset (v1.36)",
		Only:   []string{"deployment", "job", "cronjob", "daemonset", "statefulset"}},
	{ID: "EXACT-12", Category: Safety, About: Named, Source: "pkg/controller/job, tracking with finalizers (v1.36)",
		Only: []string{"job"}},
	{ID: "EXACT-13", Category: Liveness, About: Anybody, Source: "Writing Controllers, guideline 3",
		Tests: []string{"scenarios.TestSameEnd"}},
	{ID: "EXACT-14", Category: Safety, About: Anybody, Source: "API conventions, observedGeneration",
		Tests: []string{"scenarios/conformance.TestObservedGeneration"}},
}

var upgradeClauses = []Clause{
	{ID: "UPGRADE-1", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "Without overlapping selectors, upgrade and downgrade change nothing that a user sees, at any " +
			"moment and in any order of the processes. An upgrade or downgrade creates and deletes no object. After " +
			"an upgrade every dependent has an owner."},
	{ID: "UPGRADE-2", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests:    []string{"controllers.TestEras"},
		Sentence: "With overlapping selectors, a fight before the upgrade stops after it."},
	{ID: "UPGRADE-3", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "With overlapping selectors, adoption races at the upgrade may change owners, and split the pods " +
			"of an owner. The report names these pods."},
	{ID: "UPGRADE-4", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "With overlapping selectors, additional objects may be created after the upgrade (Don't share). " +
			"The run predicts their number."},
}

var downgradeClauses = []Clause{
	{ID: "DOWNGRADE-1", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "With overlapping selectors, controllers may fight again after a downgrade. The output shows the " +
			"cycle."},
	{ID: "DOWNGRADE-2", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "With overlapping selectors, objects may be deleted after a downgrade. The report names these " +
			"objects, and the controllers that delete them."},
}

var skewClauses = []Clause{
	{ID: "SKEW-1", Category: Crossing, About: Eras, Source: "controller-ref.md, Upgrading",
		Tests: []string{"controllers.TestEras"},
		Sentence: "The rules of UPGRADE and DOWNGRADE hold while two eras run at once (a rolling upgrade, a slow " +
			"leader change)."},
}

var checklistClauses = []Clause{
	{ID: "CHECKLIST", Category: Seen, About: Tool, Source: "controller-ref.md, Implementation",
		Sentence: "The tool prints the proposal's implementation checklist (one row for each controller and " +
			"capability) from the results of its checks. Nobody writes it by hand.",
		Tests: []string{"lab/evidence.TestControllersKeepTheClauses"}}}
