package clause

var gcpolicyClauses = []Clause{
	{ID: "GCPOLICY-1", Category: Data, About: Server, Source: "controller-ref.md, Default garbage collection policy",
		Sentence: "Clients used to delete the dependents of some kinds. In the old API versions of these kinds, a " +
			"delete without a policy means Orphan. For all other kinds, the garbage collector deletes the dependents.",
		Cases: []string{"finalizers/default-policy-"}},
	{ID: "GCPOLICY-2", Category: Data, About: Server, Source: "controller-ref.md, Default garbage collection policy",
		Sentence: "The default depends on kind and API version. The strategy of the kind declares the default, and " +
			"one table shows all defaults.",
		Cases: []string{"finalizers/default-policy-"}},
	{ID: "GCPOLICY-3", Category: Crossing, About: Eras,
		Source:   "controller-ref.md, Default garbage collection policy; Upgrading",
		Sentence: "An upgrade of the controller manager alone does not change the effect of a plain delete."},
}

var gcClauses = []Clause{
	{ID: "GC-1", Category: Liveness, About: Collector,
		Source: "garbage-collection.md, Cascading deletion with Garbage Collector"},
	{ID: "GC-2", Category: Liveness, About: Collector, Source: "synchronous-garbage-collection.md"},
	{ID: "GC-3", Category: Liveness, About: Collector, Source: "garbage-collection.md, Part II: the orphan finalizer"},
	{ID: "GC-4", Category: Safety, About: Collector, Source: "garbage-collection.md, Part II: the orphan finalizer"},
	{ID: "GC-5", Category: Safety, About: Collector,
		Source: "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem"},
	{ID: "GC-6", Category: Liveness, About: Collector,
		Source: "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem"},
	{ID: "GC-7", Category: Safety, About: Collector,
		Source: "pkg/controller/garbagecollector (v1.36), namespace of owner references"},
	{ID: "GC-8", Category: Liveness, About: Collector,
		Source: "pkg/controller/garbagecollector (v1.36), attemptToDeleteItem"},
	{ID: "GC-9", Category: Safety, About: Collector, Source: "pkg/controller/garbagecollector (v1.36), deleteObject"},
}

var nsClauses = []Clause{
	{ID: "NS-1", Category: Liveness, About: Drainer, Source: "pkg/controller/namespace/deletion (v1.36)",
		Sentence: "A terminating namespace refuses creations.",
		Cases:    []string{"namespaces/"}},
}

var finClauses = []Clause{
	{ID: "FIN-1", Category: Validation, About: Anybody,
		Source:   "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with finalizers",
		Sentence: "Deleting an object with finalizers sets deletionTimestamp. No finalizer is added after that.",
		Cases:    []string{"finalizers/"}},
	{ID: "FIN-2", Category: Validation, About: Server,
		Source: "k8s.io/apiserver/pkg/registry/generic/registry (v1.36), deletion with a policy",
		Sentence: "`propagationPolicy` sets and removes the orphan and foregroundDeletion finalizers like the real " +
			"server. This covers the explicit policy, the legacy `orphanDependents`, existing finalizers, and " +
			"the default of the kind.",
		Cases: []string{"finalizers/policy-"}},
	{ID: "FIN-3", Category: Safety, About: Named, Source: "pkg/controller/volume/pvcprotection (v1.36)",
		Only: []string{"persistentvolumeclaim-protection"}},
}

var kcmClauses = []Clause{
	{ID: "KCM-1", Category: Data, About: Tool, Source: "kube-controller-manager notes",
		Sentence: "One table registers all controllers by name. All of them, or a selected subset, are started from " +
			"this table, as in kube-controller-manager.",
		Tests: []string{"controllers.TestKubeControllerManager"}},
	{ID: "KCM-2", Category: Data, About: Tool, Source: "kube-controller-manager notes",
		Sentence: "All controllers in the source document's registry can run. Those that own objects are reference " +
			"controllers. Upstream's code of all controllers runs unmodified.",
		Tests: []string{"upstream/hosted.TestUpstreamComesToTheSameEnd", "upstream.TestManagerHasUpstreamsNames",
			"upstream/hosted.TestEveryControllerStarts"},
		Lacking: "attach-detach and selinux-warning are not started, because they watch a directory of the machine " +
			"for plugins; twelve others do nothing without a cloud, a key or their feature gate"},
}

var watchClauses = []Clause{
	{ID: "WATCH-1", Category: Routing, About: Owners, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-2", Category: Routing, About: Owners, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-3", Category: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-4", Category: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-5", Category: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-6", Category: Routing, About: Claimers, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-7", Category: Liveness, About: Anybody, Before: "the events that it expects are counted for another",
		Source: "controller-ref.md, Watches"},
	{ID: "WATCH-8", Category: Routing, About: Owners, Before: "it routes by selector, to the oldest match",
		Source: "controller-ref.md, Watches"},
}

var writeClauses = []Clause{
	{ID: "WRITE-1", Category: Safety, About: Keyed, Source: "Writing Controllers, guideline 1"},
	{ID: "WRITE-2", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "Writing Controllers, guideline 2"},
	{ID: "WRITE-3", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "Writing Controllers, guideline 3"},
	{ID: "WRITE-4", Category: Data, About: Keyed, Source: "Writing Controllers, guideline 4"},
	{ID: "WRITE-5", Category: Safety, About: Anybody, Source: "Writing Controllers, guideline 5"},
	{ID: "WRITE-6", Category: Safety, About: Keyed, Source: "Writing Controllers, guideline 6"},
	{ID: "WRITE-7", Category: Liveness, About: Wanting, Before: "it counts every object that it selects",
		Source: "Writing Controllers, guideline 7"},
	{ID: "WRITE-8", Category: Liveness, About: Anybody, Source: "Writing Controllers, guideline 8"},
	{ID: "WRITE-9", Category: Liveness, About: Owners, Source: "Writing Controllers, guideline 9"},
}

var kindClauses = []Clause{
	{ID: "KIND-STS-1", Category: Safety, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, StatefulSet",
		Sentence: "A StatefulSet adopts only pods named `{set}-{ordinal}`.",
		Only:     []string{"statefulset"}},
	{ID: "KIND-STS-2", Category: Liveness, About: Named,
		Source: "controller-ref.md, Controller-specific behavior, StatefulSet",
		Sentence: "If a StatefulSet is deleted with orphaning, and recreated with the same name and selector, it " +
			"adopts all its pods. No pod restarts.",
		Only: []string{"statefulset"}},
	{ID: "KIND-DS", Invariant: "one-on-each-node", Category: Liveness, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Only: []string{"daemonset"}},
	{ID: "KIND-DEPLOY", Category: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A Deployment manages ReplicaSets by ControllerRef. It adopts and releases ReplicaSets, never pods.",
		Only:     []string{"deployment"}},
	{ID: "KIND-JOB", Category: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A Job manages pods by ControllerRef.",
		Only:     []string{"job"}},
	{ID: "KIND-CRON-1", Category: Routing, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, CronJob",
		Sentence: "The CronJob controller finds its Jobs by polling (the old era), and links them by ControllerRef.",
		Only:     []string{"cronjob"}},
	{ID: "KIND-CRON-2", Category: Routing, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, CronJob",
		Sentence: "For a Job without ControllerRef, a CronJob falls back to the `created-by` annotation.",
		Only:     []string{"cronjob"}},
	{ID: "KIND-RS", Category: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A ReplicaSet sets ControllerRef, adopts and releases, whether or not the garbage collector runs.",
		Only:     []string{"replicaset"}},
	{ID: "KIND-RC", Category: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A ReplicationController sets ControllerRef, adopts and releases, whether or not the garbage " +
			"collector runs.",
		Only: []string{"replication"}},
	{ID: "PODGC-1", Invariant: "keep-runnable-pods", Category: Safety, About: Named, Source: "pkg/controller/podgc (v1.36)",
		Only: []string{"podgc"}},
	{ID: "TTL-1", Invariant: "not-before-ttl", Category: Safety, About: Named, Source: "pkg/controller/ttlafterfinished (v1.36)",
		Only: []string{"ttl-after-finished"}},
}

var createdbyClauses = []Clause{
	{ID: "CREATEDBY-1", Category: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "`kubectl describe` shows the controller from ControllerRef (\"Controlled By\"), and falls back to " +
			"created-by.",
		Tests:   []string{"kubectltest.TestKubectl"},
		Lacking: "the current kubectl does not fall back: it shows nothing for an object without ControllerRef"},
	{ID: "CREATEDBY-2", Category: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "`kubectl drain` decides by ControllerRef which pods are managed. It refuses unmanaged ones " +
			"without --force, and DaemonSet pods without --ignore-daemonsets.",
		Tests: []string{"kubectltest.TestKubectl"}},
	{ID: "CREATEDBY-3", Category: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "A report of failed pods groups them by their controller."},
}

var jobselClauses = []Clause{
	{ID: "JOBSEL-1", Category: Data, About: Server, Source: "selector-generation.md",
		Sentence: "If the selector is left out, the server generates a `controller-uid=<uid>` selector, and the " +
			"labels `controller-uid` and `job-name` in the template.",
		Cases: []string{"jobselector/"}},
	{ID: "JOBSEL-2", Category: Data, About: Server, Source: "selector-generation.md",
		Sentence: "User labels in the template are kept. Two generated selectors never overlap, because they contain " +
			"the UID.",
		Cases: []string{"jobselector/collide-"}},
	{ID: "JOBSEL-3", Category: Validation, About: Server, Source: "selector-generation.md",
		Sentence: "A selector without `manualSelector: true` is refused.",
		Cases:    []string{"jobselector/unset-with-selector"}},
	{ID: "JOBSEL-4", Category: Data, About: Server, Source: "selector-generation.md",
		Sentence: "With `manualSelector: true` nothing is generated, and the selector must match the template.",
		Cases:    []string{"jobselector/manual-true-"}},
	{ID: "JOBSEL-5", Category: Data, About: Server, Source: "selector-generation.md",
		Sentence: "A downloaded Job that is created again, with its UID label and selector, does not overlap with " +
			"the first. The second Job gets unique labels, or the same error as from the real server.",
		Cases: []string{"jobselector/copy-job"}},
	{ID: "JOBSEL-6", Category: Data, About: Server, Source: "selector-generation.md",
		Sentence: "`manualSelector` is not shown in a Job that did not set it.",
		Cases:    []string{"jobselector/put-get-roundtrip"},
		Lacking: "the current server shows manualSelector: false if it was not set, and so does this one; a copy " +
			"with it changes nothing"},
	{ID: "JOBSEL-7", Category: Data, About: Server, Source: "selector-generation.md",
		Sentence: "The conversion between the old version's `autoSelector` and the new one's `manualSelector` " +
			"follows the proposal's table, and a round trip gives the values of that table.",
		Tests: []string{"controllers/internal/job/conversion.TestTable",
			"controllers/internal/job/conversion.TestRoundTrip"},
		Lacking: "conversion in a server: no served version of the API has `autoSelector`"},
	{ID: "JOBSEL-8", Category: Safety, About: Named, Source: "selector-generation.md",
		Sentence: "The pods of a Job that was deleted without cascading are not adopted by a later Job of the same name.",
		Only:     []string{"job"}},
	{ID: "JOBSEL-9", Category: Safety, About: Named, Source: "selector-generation.md",
		Sentence: "A controller that creates Jobs (CronJob) can set any labels without breaking uniqueness.",
		Only:     []string{"cronjob"},
		Cases:    []string{"jobselector/cronjob-template-labels"}},
	{ID: "JOBSEL-10", Category: Seen, About: Server, Source: "selector-generation.md",
		Sentence: "`get pods -l job-name=NAME` finds the Job's pods.",
		Cases:    []string{"jobselector/"}}}
