package clause

var kindClauses = []Clause{
	{ID: "KIND-STS-1", Kind: Safety, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, StatefulSet",
		Sentence: "StatefulSet adopts only pods named `{set}-{ordinal}`.",
		Only:     []string{"statefulset"}},
	{ID: "KIND-STS-2", Kind: Liveness, About: Named,
		Source: "controller-ref.md, Controller-specific behavior, StatefulSet",
		Sentence: "Orphan a family of a StatefulSet, re-create the set with the same name and selector: the whole " +
			"family is adopted, no pod restarts.",
		Only: []string{"statefulset"}},
	{ID: "KIND-DS", Kind: Liveness, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "DaemonSet: the same laws, one owned pod for each eligible node.",
		Only:     []string{"daemonset"}},
	{ID: "KIND-DEPLOY", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "Deployment manages ReplicaSets by ControllerRef; adopts and releases ReplicaSets, never pods.",
		Only:     []string{"deployment"}},
	{ID: "KIND-JOB", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "Job manages pods by ControllerRef.",
		Only:     []string{"job"}},
	{ID: "KIND-CRON-1", Kind: Routing, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, CronJob",
		Sentence: "CronJob works by polling (the old era) and links Jobs by ControllerRef.",
		Only:     []string{"cronjob"}},
	{ID: "KIND-CRON-2", Kind: Routing, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, CronJob",
		Sentence: "Where a Job has no ControllerRef, CronJob falls back to the `created-by` annotation.",
		Only:     []string{"cronjob"}},
	{ID: "KIND-RS", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "ReplicaSet sets ControllerRef, adopts and releases whether or not the garbage collector runs.",
		Only:     []string{"replicaset"}},
	{ID: "KIND-RC", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "ReplicationController does the same.",
		Only:     []string{"replication"}},
	{ID: "PODGC-1", Kind: Safety, About: Named, Source: "pkg/controller/podgc (v1.36)",
		Sentence: "The pod garbage collector removes, whoever owns them, only pods that cannot run any more: on a " +
			"node that has been gone for a while or is out of service, never on one and being deleted, or ended; it " +
			"marks one that has not ended Failed first.",
		Only: []string{"podgc"}},
	{ID: "TTL-1", Kind: Safety, About: Named, Source: "pkg/controller/ttlafterfinished (v1.36)",
		Sentence: "A Job that says how long it is kept after its end is deleted then and not before.",
		Only:     []string{"ttl-after-finished"}},
}

var createdbyClauses = []Clause{
	{ID: "CREATEDBY-1", Kind: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "`kubectl describe` shows the controller from ControllerRef (\"Controlled By\"), falling back to " +
			"created-by.",
		Tests:   []string{"kubectltest.TestKubectl"},
		Lacking: "kubectl of today does not fall back: of what has no ControllerRef it names nobody"},
	{ID: "CREATEDBY-2", Kind: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "`kubectl drain` decides by ControllerRef which pods are managed (refuses unmanaged ones without " +
			"--force, refuses DaemonSet pods without --ignore-daemonsets).",
		Tests: []string{"kubectltest.TestKubectl"}},
	{ID: "CREATEDBY-3", Kind: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "A report of failed pods groups them by their controller."},
}

var jobselClauses = []Clause{
	{ID: "JOBSEL-1", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "Selector left out: `controller-uid=<uid>` selector, and `controller-uid` and `job-name` labels on " +
			"the template, are generated.",
		Cases: []string{"jobselector/"}},
	{ID: "JOBSEL-2", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "User labels on the template are kept; no two generated selectors overlap, ever (uid).",
		Cases:    []string{"jobselector/collide-"}},
	{ID: "JOBSEL-3", Kind: Validation, About: Server, Source: "selector-generation.md",
		Sentence: "A selector given without `manualSelector: true` is refused.",
		Cases:    []string{"jobselector/unset-with-selector"}},
	{ID: "JOBSEL-4", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "`manualSelector: true`: nothing is generated; the selector must match the template.",
		Cases:    []string{"jobselector/manual-true-"}},
	{ID: "JOBSEL-5", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "Re-posting a downloaded Job (with its uid label, selector) neither overlaps nor gives a " +
			"label-conflict error that the user can't understand: it is made unique or refused with a clear " +
			"message, as the real server does.",
		Cases: []string{"jobselector/copy-job"}},
	{ID: "JOBSEL-6", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "`manualSelector` is not shown where it was not used.",
		Cases:    []string{"jobselector/put-get-roundtrip"},
		Lacking: "a server of today says manualSelector: false where nobody has set it, and so does this one: a copy " +
			"of it asks for nothing"},
	{ID: "JOBSEL-7", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "Conversion between the old version's `autoSelector` and the new one's `manualSelector` " +
			"follows the proposal's table and round-trips as it says.",
		Tests: []string{"controllers/internal/job/conversion.TestTable",
			"controllers/internal/job/conversion.TestRoundTrip"},
		Lacking: "that a server converts: no version of the API that has `autoSelector` is served"},
	{ID: "JOBSEL-8", Kind: Safety, About: Named, Source: "selector-generation.md",
		Sentence: "A Job deleted without cascading leaves pods that a later Job of the same name does not pick up.",
		Only:     []string{"job"}},
	{ID: "JOBSEL-9", Kind: Safety, About: Named, Source: "selector-generation.md",
		Sentence: "A controller that makes Jobs (CronJob) can label as it likes without breaking uniqueness.",
		Only:     []string{"cronjob"},
		Cases:    []string{"jobselector/cronjob-template-labels"}},
	{ID: "JOBSEL-10", Kind: Seen, About: Server, Source: "selector-generation.md",
		Sentence: "`get pods -l job-name=NAME` finds the Job's pods.",
		Cases:    []string{"jobselector/"}},
}
