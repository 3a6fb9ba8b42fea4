package clause

var apiClauses = []Clause{
	{ID: "API-1", Kind: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "At most one entry of `metadata.ownerReferences` has `controller: true`. Create, update, " +
			"every patch " +
			"type, server-side apply, status and scale writes that would break it get 422 `Invalid` naming the " +
			"field; nothing is stored.",
		Cases: []string{"ownerrefs/second-controller-"}},
	{ID: "API-2", Kind: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "`controller` is a tri-state pointer; absent and `false` are not a ControllerRef.",
		Cases:    []string{"ownerrefs/create-controller-true-and-false"}},
	{ID: "API-3", Kind: Validation, About: Server, Source: "controller-ref.md, API",
		Sentence: "An owner reference needs a valid `apiVersion`, `kind`, `name`, `uid`; kinds that may not own " +
			"(events) are refused.",
		Cases: []string{"ownerrefs/create-"}},
	{ID: "API-4", Kind: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "Of N racing adopters exactly one write lands; every loser gets an error (422 or 409) and " +
			"the stored " +
			"object still names the winner."},
	{ID: "API-6", Kind: Safety, About: Claimers, Source: "recorded from kube-apiserver v1.36, area ownerrefs",
		Sentence: "The server guards only *adding* a second controller: a PUT, merge patch or JSON patch that " +
			"*replaces* the list takes another's object over with 200 (recorded). Such a takeover by a " +
			"controller is a breach of LAW-1b and LAW-2, caught by the laws, not by the server.",
		Tests: []string{"sim/law.TestTakeoverByReplacing"},
		Cases: []string{"ownerrefs/second-controller-put-replace"}},
	{ID: "API-5", Kind: Data, About: Claimers, Before: "it adopts by what its cache shows",
		Source: "controller-ref.md, Goals",
		Sentence: "The mapping lives only in the API object: restart every controller at any point and no object " +
			"changes hands because of it."},
}

var lawClauses = []Clause{
	{ID: "LAW-1", Kind: Safety, About: Owners, Before: "it knows no ControllerRef",
		Source: "controller-ref.md, The Three Laws of Controllers, First Law",
		Sentence: "Take ownership: every object a controller creates for its collection carries its ControllerRef in " +
			"the create request itself; uid, kind, name and apiVersion are the owner's, and an owner in a " +
			"namespace is one in the object's. What it adopts holds the owner's deletion in the foreground up."},
	{ID: "LAW-1b", Kind: Safety, About: Claimers,
		Source:   "controller-ref.md, The Three Laws of Controllers, First Law",
		Sentence: "It may claim an object it did not create only while that object has no ControllerRef."},
	{ID: "LAW-2", Kind: Safety, About: Owners, Before: "it writes whatever it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Second Law",
		Sentence: "Don't interfere (with another controller's objects of any kind the actor writes: its dependents, " +
			"and other controllers' own objects, e.g. scaling or deleting a rival; and with any field but the " +
			"reference itself in an adoption or release write, finalizers above all): no edit, scale, status " +
			"write or delete of an object whose ControllerRef is not the actor's, except the adoption write " +
			"(which only adds the reference) and the release write (which only removes the actor's own); and of " +
			"its own dependents it takes off no other live owner's reference."},
	{ID: "LAW-3", Kind: Liveness, About: Wanting, Before: "it counts whatever it selects",
		Source: "controller-ref.md, The Three Laws of Controllers, Third Law",
		Sentence: "Don't share: desired state is reached counting owned objects only; status counts " +
			"(replicas, ready, " +
			"available...) count owned objects only."},
}

var nofightClauses = []Clause{
	{ID: "NOFIGHT-1", Kind: Liveness, About: Anybody, Before: "two of them scale the same objects for ever",
		Source: "controller-ref.md, Goals",
		Sentence: "No execution of conforming controllers over a quiet cluster writes forever: from every reachable " +
			"state a quiescent state is reached; no state recurs with a write in between."},
	{ID: "NOFIGHT-2", Kind: Safety, About: Claimers, Source: "controller-ref.md, Upgrading",
		Sentence: "Between two user actions an object changes hands a bounded number of times (bound stated per " +
			"scenario; 1 for an orphan with a stable label set)."},
	{ID: "NOFIGHT-3", Kind: Liveness, About: Wanting, Before: "it counts whatever it selects",
		Source: "controller-ref.md, Goals",
		Sentence: "N controllers of any mix of kinds with the same selector and replicas r1..rN quiesce with exactly " +
			"sum(ri) active dependents, each owned by one."},
}

var adoptClauses = []Clause{
	{ID: "ADOPT-1", Kind: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "Adoption only of objects that match the selector, in the actor's namespace. Whether a pod is of a " +
			"StatefulSet its name says as well, which the law reads itself."},
	{ID: "ADOPT-2", Kind: Liveness, About: Claimers, Before: "it adopts nothing",
		Source:   "controller-ref.md, Adoption",
		Sentence: "A willing controller eventually adopts every matching orphan it should."},
	{ID: "ADOPT-3", Kind: Safety, About: Owners, Before: "it acts for what is being deleted",
		Source: "controller-ref.md, Adoption",
		Sentence: "A controller with `deletionTimestamp` adopts nothing and does nothing else but status; its own " +
			"dependents it may delete while its own finalizer holds it."},
	{ID: "ADOPT-4", Kind: Safety, About: Claimers, Before: "it adopts by what its cache shows",
		Source: "controller-ref.md, Adoption; pkg/controller (v1.36), RecheckDeletionTimestamp",
		Sentence: "The check in ADOPT-3 is made against the live object (uid and deletionTimestamp), not only the " +
			"cache, before the first adoption of a sync."},
	{ID: "ADOPT-5", Kind: Safety, About: Claimers, Before: "it adopts by what its cache shows",
		Source:   "pkg/controller (v1.36), ClaimObject",
		Sentence: "Objects being deleted are not adopted."},
	{ID: "ADOPT-6", Kind: Safety, About: Claimers, Source: "controller-ref.md, Adoption",
		Sentence: "A loser of the race leaves the object alone afterwards (no delete, no edit, no count)."},
	{ID: "ADOPT-7", Kind: Safety, About: Claimers, Before: "it adopts by what its cache shows",
		Source:   "controller-ref.md, Adoption",
		Sentence: "Objects orphaned by the orphan finalizer are not re-adopted by the controller being deleted."},
	{ID: "ADOPT-8", Kind: Safety, About: Owners,
		Source: "controller-ref.md, Behavior; pkg/controller (v1.36), ClaimObject",
		Sentence: "A same-named successor (other uid) is a different controller: it inherits nothing by name; it may " +
			"adopt orphans."},
}

var orphanClauses = []Clause{
	{ID: "ORPHAN-1", Kind: Liveness, About: Claimers, Before: "it owns nothing that it could release",
		Source: "controller-ref.md, Orphaning",
		Sentence: "An owned object that stops matching is released: the actor removes its own reference, " +
			"leaves every " +
			"other reference and field alone."},
	{ID: "ORPHAN-2", Kind: Safety, About: Claimers, Source: "pkg/controller (v1.36), ReleasePod",
		Sentence: "Release tolerates that the object is gone, or that its uid changed.",
		Tests:    []string{"controllers/ref.TestClaim"}},
	{ID: "ORPHAN-3", Kind: Liveness, About: Collector, Source: "controller-ref.md, Orphaning",
		Sentence: "On deletion of a controller dependents are orphaned or deleted as the deletion policy says, by " +
			"owner references alone."},
	{ID: "ORPHAN-4", Kind: Safety, About: Collector, Source: "controller-ref.md, Non-goals",
		Sentence: "The garbage collector makes no difference between a ControllerRef and any other owner reference."},
}
