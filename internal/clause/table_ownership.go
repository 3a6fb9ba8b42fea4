package clause

var apiClauses = []Clause{
	{ID: "API-1", Kind: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "At most one entry of `metadata.ownerReferences` has `controller: true`. A write that would " +
			"violate this gets 422 `Invalid` with the field's name, and stores nothing. This holds for " +
			"create, update, every patch type, server-side apply, status and scale.",
		Cases: []string{"ownerrefs/second-controller-"}},
	{ID: "API-2", Kind: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "`controller` is a pointer with three states. An entry without it, or with `false`, is not a " +
			"ControllerRef.",
		Cases: []string{"ownerrefs/create-controller-true-and-false"}},
	{ID: "API-3", Kind: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "An owner reference needs a valid `apiVersion`, `kind`, `name` and `uid`. Kinds that may not own " +
			"(events) are refused.",
		Cases: []string{"ownerrefs/create-"}},
	{ID: "API-4", Kind: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "If several controllers adopt an object at once, exactly one write succeeds. All others get an " +
			"error (422 or 409), and the stored object still names the winner."},
	{ID: "API-6", Kind: Safety, About: Claimers, Source: "recorded from kube-apiserver v1.36, area ownerrefs",
		Sentence: "The server only refuses to *add* a second controller. A PUT, merge patch or JSON patch that " +
			"*replaces* the list takes over the object of another controller, with 200 (recorded). If a " +
			"controller does this, it violates LAW-1b and LAW-2. The laws report it, not the server.",
		Tests: []string{"sim/law.TestTakeoverByReplacing"},
		Cases: []string{"ownerrefs/second-controller-put-replace"}},
	{ID: "API-5", Kind: Data, About: Claimers, Before: "it adopts without a live read",
		Source:   "controller-ref.md, Goals",
		Sentence: "Ownership is stored only in the API object. A restart of any controller, at any point, changes no owner."},
}

var lawClauses = []Clause{
	{ID: "LAW-1", Kind: Safety, About: Owners, Before: "it has no ControllerRef",
		Source: "controller-ref.md, The Three Laws of Controllers, First Law",
		Sentence: "Take ownership. (a) Every object that a controller creates for its collection has its " +
			"ControllerRef in the create request. (b) UID, kind, name and apiVersion are the owner's, and a " +
			"namespaced owner is in the object's namespace. (c) An adopted object blocks a foreground " +
			"deletion of its owner."},
	{ID: "LAW-1b", Kind: Safety, About: Claimers,
		Source:   "controller-ref.md, The Three Laws of Controllers, First Law",
		Sentence: "A controller claims an object that it did not create only while the object has no ControllerRef."},
	{ID: "LAW-2", Kind: Safety, About: Owners, Before: "it writes to every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Second Law",
		Sentence: "Don't interfere. (a) A controller does not edit, scale or delete an object, or write its status, " +
			"if the ControllerRef is not its own. This includes other controllers' own objects. (b) An " +
			"adoption only adds the reference, and a release only removes the controller's own. Neither " +
			"changes another field, above all no finalizer. (c) It removes no other existing owner's " +
			"reference from its own dependents."},
	{ID: "LAW-3", Kind: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law",
		Sentence: "Don't share. A controller counts only owned objects, both for the desired state and in its " +
			"status (replicas, ready, available)."},
}

var nofightClauses = []Clause{
	{ID: "NOFIGHT-1", Kind: Liveness, About: Anybody, Before: "two of them scale the same objects forever",
		Source: "controller-ref.md, Goals",
		Sentence: "Conforming controllers in a quiet cluster do not write forever. Every reachable state leads to a " +
			"settled state, and no state recurs with a write in between."},
	{ID: "NOFIGHT-2", Kind: Safety, About: Claimers, Source: "controller-ref.md, Upgrading",
		Sentence: "Between two user actions an object changes owners only a bounded number of times. The scenario " +
			"sets the bound. It is 1 for an orphan with stable labels."},
	{ID: "NOFIGHT-3", Kind: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "controller-ref.md, Goals",
		Sentence: "Controllers of any kinds with the same selector and replicas r1..rN settle with exactly sum(ri) " +
			"active dependents. Each has one owner."},
}

var adoptClauses = []Clause{
	{ID: "ADOPT-1", Kind: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "A controller adopts only objects in its namespace that match its selector. A pod of a " +
			"StatefulSet must also have such a name."},
	{ID: "ADOPT-2", Kind: Liveness, About: Claimers, Before: "it adopts nothing",
		Source:   "controller-ref.md, Adoption",
		Sentence: "Once settled, no orphan is left that a controller selects and would adopt."},
	{ID: "ADOPT-3", Kind: Safety, About: Owners, Before: "it acts for terminating owners",
		Source: "controller-ref.md, Adoption",
		Sentence: "For an owner with `deletionTimestamp`, a controller adopts nothing and writes only status. It " +
			"may delete its own dependents while its own finalizer holds the owner."},
	{ID: "ADOPT-4", Kind: Safety, About: Claimers, Before: "it adopts without a live read",
		Source: "controller-ref.md, Adoption; pkg/controller (v1.36), RecheckDeletionTimestamp",
		Sentence: "ADOPT-3 is checked against the live object (UID and deletionTimestamp), not only the cache, " +
			"before the first adoption of a sync."},
	{ID: "ADOPT-5", Kind: Safety, About: Claimers, Before: "it adopts without a live read",
		Source:   "pkg/controller (v1.36), ClaimObject",
		Sentence: "Terminating objects are not adopted."},
	{ID: "ADOPT-6", Kind: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "A controller that lost the race for an orphan leaves the object alone afterwards: no delete, no " +
			"edit, no count."},
	{ID: "ADOPT-7", Kind: Safety, About: Claimers, Before: "it adopts without a live read",
		Source:   "controller-ref.md, Adoption",
		Sentence: "Objects orphaned by the orphan finalizer are not adopted again by the terminating controller object."},
	{ID: "ADOPT-8", Kind: Safety, About: Owners,
		Source: "controller-ref.md, Behavior; pkg/controller (v1.36), ClaimObject",
		Sentence: "A recreated controller object (same name, new UID) is another controller. It inherits nothing by " +
			"name, but may adopt orphans."},
}

var orphanClauses = []Clause{
	{ID: "ORPHAN-1", Kind: Liveness, About: Claimers, Before: "it has nothing to release",
		Source: "controller-ref.md, Orphaning",
		Sentence: "An owned object that no longer matches is released. The controller removes its own reference, " +
			"and leaves every other reference and field alone."},
	{ID: "ORPHAN-2", Kind: Safety, About: Claimers, Source: "pkg/controller (v1.36), ReleasePod",
		Sentence: "A release succeeds if the object is gone, or if its UID has changed.",
		Tests:    []string{"controllers/ref.TestClaim"}},
	{ID: "ORPHAN-3", Kind: Liveness, About: Collector, Source: "controller-ref.md, Orphaning",
		Sentence: "After the deletion of a controller object, its dependents are orphaned or deleted as the " +
			"deletion policy says, by owner references alone."},
	{ID: "ORPHAN-4", Kind: Safety, About: Collector, Source: "controller-ref.md, Non-goals",
		Sentence: "The garbage collector treats a ControllerRef like any other owner reference."},
}
