package clause

var gcpolicyClauses = []Clause{
	{ID: "GCPOLICY-1", Kind: Data, About: Server, Source: "controller-ref.md, Default garbage collection policy",
		Sentence: "Kinds that relied on client-side cascading default to Orphan when the delete names no policy, for " +
			"the API versions that had that legacy; all others default to server-side cascading.",
		Cases: []string{"finalizers/default-policy-"}},
	{ID: "GCPOLICY-2", Kind: Data, About: Server, Source: "controller-ref.md, Default garbage collection policy",
		Sentence: "The default is per kind and API version, declared by that kind's strategy, visible in one table.",
		Cases:    []string{"finalizers/default-policy-"}},
	{ID: "GCPOLICY-3", Kind: Crossing, About: Eras,
		Source:   "controller-ref.md, Default garbage collection policy; Upgrading",
		Sentence: "Upgrading the controller manager alone changes nothing in what a plain delete does."},
}

var gcClauses = []Clause{
	{ID: "GC-1", Kind: Liveness, About: Collector,
		Source: "garbage-collection.md, Cascading deletion with Garbage Collector",
		Sentence: "Background: dependents without any remaining owner are deleted; those with another live " +
			"owner lose only the dead reference. Collecting one leaves none of its own dependents behind, unless " +
			"its finalizer says so."},
	{ID: "GC-2", Kind: Liveness, About: Collector, Source: "synchronous-garbage-collection.md",
		Sentence: "Foreground: the owner stays, with deletionTimestamp and its finalizer, until every blocking " +
			"dependent is gone; non-blocking dependents don't hold it."},
	{ID: "GC-3", Kind: Liveness, About: Collector, Source: "garbage-collection.md, Part II: the orphan finalizer",
		Sentence: "Orphan: every dependent loses the reference before the owner goes."},
	{ID: "GC-4", Kind: Safety, About: Collector, Source: "garbage-collection.md, Part II: the orphan finalizer",
		Sentence: "Orphan: no dependent is deleted, at any interleaving, crash and retry included."},
	{ID: "GC-5", Kind: Safety, About: Collector,
		Source: "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem",
		Sentence: "An object is deleted only after a live check that its owner (by uid) is absent; a new " +
			"object of the " +
			"owner's name with another uid does not save or own it."},
	{ID: "GC-6", Kind: Liveness, About: Collector,
		Source:   "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem",
		Sentence: "Absent owners never seen by an informer (virtual nodes) are resolved; cycles don't deadlock."},
	{ID: "GC-7", Kind: Safety, About: Collector,
		Source:   "pkg/controller/garbagecollector (v1.36), namespace of owner references",
		Sentence: "Owner references across namespaces count as absent; never delete the innocent."},
	{ID: "GC-8", Kind: Liveness, About: Collector,
		Source:   "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem",
		Sentence: "A waiting owner and a solid owner: the solid one wins, the waiting one's reference is dropped."},
	{ID: "GC-9", Kind: Safety, About: Collector, Source: "pkg/controller/garbagecollector (v1.36), deleteObject",
		Sentence: "Deletes carry uid preconditions."},
}

var nsClauses = []Clause{
	{ID: "NS-1", Kind: Liveness, About: Drainer, Source: "pkg/controller/namespace/deletion (v1.36)",
		Sentence: "Deleting a namespace: Terminating, contents deleted, then finalized; creation in it is refused " +
			"meanwhile.",
		Cases: []string{"namespaces/"}},
}

var finClauses = []Clause{
	{ID: "FIN-1", Kind: Validation, About: Anybody,
		Source: "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with finalizers",
		Sentence: "An object with finalizers is not removed by a delete: deletionTimestamp is set; it goes with the " +
			"last finalizer; no finalizer is added after that, and nobody takes off one that is another's.",
		Cases: []string{"finalizers/"}},
	{ID: "FIN-2", Kind: Validation, About: Server,
		Source: "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with a policy",
		Sentence: "`propagationPolicy` sets/removes the orphan and foregroundDeletion finalizers as the real server " +
			"does, for explicit policy, legacy `orphanDependents`, existing finalizers, and per-kind default.",
		Tests: []string{"fakeapi.TestOrphanDependents"},
		Cases: []string{"finalizers/policy-"}},
	{ID: "FIN-3", Kind: Safety, About: Named, Source: "pkg/controller/volume/pvcprotection (v1.36)",
		Sentence: "A finalizer that keeps what is in use stays while something uses it: that a cache shows no use " +
			"proves none, the server is asked.",
		Only: []string{"persistentvolumeclaim-protection"}},
}

var kcmClauses = []Clause{
	{ID: "KCM-1", Kind: Data, About: Tool, Source: "kube-controller-manager notes",
		Sentence: "Controllers are registered by name in one place and started by it, on request a subset, as " +
			"kube-controller-manager does.",
		Tests: []string{"controllers.TestKubeControllerManager"}},
	{ID: "KCM-2", Kind: Data, About: Tool, Source: "kube-controller-manager notes",
		Sentence: "All controllers in the source document's registry can be run in the harness: the ones that own " +
			"objects natively, all of them by hosting the upstream code unmodified.",
		Tests: []string{"upstream/hosted.TestUpstreamComesToTheSameEnd", "upstream.TestManagerHasUpstreamsNames",
			"upstream/hosted.TestEveryControllerStarts"},
		Lacking: "two of fifty-two are not started, as they watch a directory of the machine for plugins: " +
			"attach-detach and selinux-warning; of the others twelve do nothing, without a cloud, a key or their gate"},
}
