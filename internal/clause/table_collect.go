package clause

var gcpolicyClauses = []Clause{
	{ID: "GCPOLICY-1", Kind: Data, About: Server, Source: "controller-ref.md, Default garbage collection policy",
		Sentence: "Some kinds relied on cascading by the client. In their old API versions a delete without a " +
			"policy means Orphan. All others cascade in the server.",
		Cases: []string{"finalizers/default-policy-"}},
	{ID: "GCPOLICY-2", Kind: Data, About: Server, Source: "controller-ref.md, Default garbage collection policy",
		Sentence: "The default depends on kind and API version. The kind's strategy declares it, and one table shows it.",
		Cases:    []string{"finalizers/default-policy-"}},
	{ID: "GCPOLICY-3", Kind: Crossing, About: Eras,
		Source:   "controller-ref.md, Default garbage collection policy; Upgrading",
		Sentence: "An upgrade of the controller manager alone does not change the effect of a plain delete."},
}

var gcClauses = []Clause{
	{ID: "GC-1", Kind: Liveness, About: Collector,
		Source: "garbage-collection.md, Cascading deletion with Garbage Collector",
		Sentence: "Background: dependents without a remaining owner are deleted. Those with another existing owner " +
			"lose only the reference to the deleted one. A deleted dependent leaves none of its own " +
			"dependents behind, unless its finalizer orphans them."},
	{ID: "GC-2", Kind: Liveness, About: Collector, Source: "synchronous-garbage-collection.md",
		Sentence: "Foreground: the owner stays, with deletionTimestamp and its finalizer, until every blocking " +
			"dependent is gone. Non-blocking dependents do not hold it."},
	{ID: "GC-3", Kind: Liveness, About: Collector, Source: "garbage-collection.md, Part II: the orphan finalizer",
		Sentence: "Orphan: every dependent loses the reference before the owner is removed."},
	{ID: "GC-4", Kind: Safety, About: Collector, Source: "garbage-collection.md, Part II: the orphan finalizer",
		Sentence: "Orphan: no dependent is deleted, in any interleaving, with crashes and retries."},
	{ID: "GC-5", Kind: Safety, About: Collector,
		Source: "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem",
		Sentence: "An object is deleted only after a live check that its owner (by UID) is absent. A new object " +
			"with the owner's name and another UID neither keeps nor owns it."},
	{ID: "GC-6", Kind: Liveness, About: Collector,
		Source:   "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem",
		Sentence: "Absent owners that no informer has shown (virtual nodes) are resolved. Cycles do not deadlock."},
	{ID: "GC-7", Kind: Safety, About: Collector,
		Source:   "pkg/controller/garbagecollector (v1.36), namespace of owner references",
		Sentence: "Owner references across namespaces count as absent. Other objects are not deleted because of them."},
	{ID: "GC-8", Kind: Liveness, About: Collector,
		Source:   "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem",
		Sentence: "An object with a waiting owner and another owner is kept. It loses the reference to the waiting one."},
	{ID: "GC-9", Kind: Safety, About: Collector, Source: "pkg/controller/garbagecollector (v1.36), deleteObject",
		Sentence: "Every deletion has the UID as a precondition."},
}

var nsClauses = []Clause{
	{ID: "NS-1", Kind: Liveness, About: Drainer, Source: "pkg/controller/namespace/deletion (v1.36)",
		Sentence: "A deleted namespace is Terminating until its contents are deleted, and then finalized. Meanwhile " +
			"it refuses creations.",
		Cases: []string{"namespaces/"}},
}

var finClauses = []Clause{
	{ID: "FIN-1", Kind: Validation, About: Anybody,
		Source: "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with finalizers",
		Sentence: "A delete does not remove an object with finalizers, but sets deletionTimestamp. The object is " +
			"removed with its last finalizer. No finalizer is added after the delete, and no controller " +
			"removes a finalizer of another.",
		Cases: []string{"finalizers/"}},
	{ID: "FIN-2", Kind: Validation, About: Server,
		Source: "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with a policy",
		Sentence: "`propagationPolicy` sets and removes the orphan and foregroundDeletion finalizers like the real " +
			"server. This covers the explicit policy, the legacy `orphanDependents`, existing finalizers, and " +
			"the default of the kind.",
		Tests: []string{"fakeapi.TestOrphanDependents"},
		Cases: []string{"finalizers/policy-"}},
	{ID: "FIN-3", Kind: Safety, About: Named, Source: "pkg/controller/volume/pvcprotection (v1.36)",
		Sentence: "A finalizer that protects an object in use stays while the object is used. A cache without a use " +
			"does not prove this, so the controller reads from the server.",
		Only: []string{"persistentvolumeclaim-protection"}},
}

var kcmClauses = []Clause{
	{ID: "KCM-1", Kind: Data, About: Tool, Source: "kube-controller-manager notes",
		Sentence: "Controllers are registered by name in one place and started from it, on request a subset, as in " +
			"kube-controller-manager.",
		Tests: []string{"controllers.TestKubeControllerManager"}},
	{ID: "KCM-2", Kind: Data, About: Tool, Source: "kube-controller-manager notes",
		Sentence: "All controllers in the source document's registry can run. The owners of objects are reference " +
			"controllers, and upstream's code of all of them runs unmodified.",
		Tests: []string{"upstream/hosted.TestUpstreamComesToTheSameEnd", "upstream.TestManagerHasUpstreamsNames",
			"upstream/hosted.TestEveryControllerStarts"},
		Lacking: "attach-detach and selinux-warning are not started, because they watch a directory of the machine " +
			"for plugins; twelve others do nothing without a cloud, a key or their feature gate"},
}
