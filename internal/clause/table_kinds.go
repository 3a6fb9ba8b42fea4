package clause

var kindClauses = []Clause{
	{ID: "KIND-STS-1", Kind: Safety, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, StatefulSet",
		Sentence: "A StatefulSet adopts only pods named `{set}-{ordinal}`.",
		Only:     []string{"statefulset"}},
	{ID: "KIND-STS-2", Kind: Liveness, About: Named,
		Source: "controller-ref.md, Controller-specific behavior, StatefulSet",
		Sentence: "If a StatefulSet is deleted with orphaning, and recreated with the same name and selector, it " +
			"adopts all its pods. No pod restarts.",
		Only: []string{"statefulset"}},
	{ID: "KIND-DS", Kind: Liveness, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "Once settled, a DaemonSet has one pod of its own on each eligible node. The other laws hold as well.",
		Only:     []string{"daemonset"}},
	{ID: "KIND-DEPLOY", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A Deployment manages ReplicaSets by ControllerRef. It adopts and releases ReplicaSets, never pods.",
		Only:     []string{"deployment"}},
	{ID: "KIND-JOB", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A Job manages pods by ControllerRef.",
		Only:     []string{"job"}},
	{ID: "KIND-CRON-1", Kind: Routing, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, CronJob",
		Sentence: "A CronJob works by polling (the old era) and links Jobs by ControllerRef.",
		Only:     []string{"cronjob"}},
	{ID: "KIND-CRON-2", Kind: Routing, About: Named,
		Source:   "controller-ref.md, Controller-specific behavior, CronJob",
		Sentence: "For a Job without ControllerRef, a CronJob falls back to the `created-by` annotation.",
		Only:     []string{"cronjob"}},
	{ID: "KIND-RS", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A ReplicaSet sets ControllerRef, adopts and releases, whether or not the garbage collector runs.",
		Only:     []string{"replicaset"}},
	{ID: "KIND-RC", Kind: Safety, About: Named, Source: "controller-ref.md, Controller-specific behavior",
		Sentence: "A ReplicationController does the same.",
		Only:     []string{"replication"}},
	{ID: "PODGC-1", Kind: Safety, About: Named, Source: "pkg/controller/podgc (v1.36)",
		Sentence: "The pod garbage collector removes only pods that can no longer run, whatever their owner is. " +
			"These are finished pods, unscheduled terminating pods, and pods of a node that is out of service " +
			"or has been gone for a while. A pod that has not finished is first marked Failed.",
		Only: []string{"podgc"}},
	{ID: "TTL-1", Kind: Safety, About: Named, Source: "pkg/controller/ttlafterfinished (v1.36)",
		Sentence: "A Job with `ttlSecondsAfterFinished` is deleted once that time is over, and not before.",
		Only:     []string{"ttl-after-finished"}},
}

var createdbyClauses = []Clause{
	{ID: "CREATEDBY-1", Kind: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "`kubectl describe` shows the controller from ControllerRef (\"Controlled By\"), and falls back to " +
			"created-by.",
		Tests:   []string{"kubectltest.TestKubectl"},
		Lacking: "the current kubectl does not fall back: it shows nothing for an object without ControllerRef"},
	{ID: "CREATEDBY-2", Kind: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "`kubectl drain` decides by ControllerRef which pods are managed. It refuses unmanaged ones " +
			"without --force, and DaemonSet pods without --ignore-daemonsets.",
		Tests: []string{"kubectltest.TestKubectl"}},
	{ID: "CREATEDBY-3", Kind: Seen, About: Tool, Source: "controller-ref.md, Created-by annotation",
		Sentence: "A report of failed pods groups them by their controller."},
}

var jobselClauses = []Clause{
	{ID: "JOBSEL-1", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "If the selector is left out, the server generates a `controller-uid=<uid>` selector, and the " +
			"labels `controller-uid` and `job-name` in the template.",
		Cases: []string{"jobselector/"}},
	{ID: "JOBSEL-2", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "User labels in the template are kept. Two generated selectors never overlap (UID).",
		Cases:    []string{"jobselector/collide-"}},
	{ID: "JOBSEL-3", Kind: Validation, About: Server, Source: "selector-generation.md",
		Sentence: "A selector without `manualSelector: true` is refused.",
		Cases:    []string{"jobselector/unset-with-selector"}},
	{ID: "JOBSEL-4", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "With `manualSelector: true` nothing is generated, and the selector must match the template.",
		Cases:    []string{"jobselector/manual-true-"}},
	{ID: "JOBSEL-5", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "A downloaded Job that is created again, with its UID label and selector, does not overlap with " +
			"the first. It gets unique labels or a clear error, as from the real server.",
		Cases: []string{"jobselector/copy-job"}},
	{ID: "JOBSEL-6", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "`manualSelector` is not shown if it was not used.",
		Cases:    []string{"jobselector/put-get-roundtrip"},
		Lacking: "the current server shows manualSelector: false if it was not set, and so does this one; a copy " +
			"with it changes nothing"},
	{ID: "JOBSEL-7", Kind: Data, About: Server, Source: "selector-generation.md",
		Sentence: "The conversion between the old version's `autoSelector` and the new one's `manualSelector` " +
			"follows the proposal's table, and round-trips as it says.",
		Tests: []string{"controllers/internal/job/conversion.TestTable",
			"controllers/internal/job/conversion.TestRoundTrip"},
		Lacking: "conversion in a server: no served version of the API has `autoSelector`"},
	{ID: "JOBSEL-8", Kind: Safety, About: Named, Source: "selector-generation.md",
		Sentence: "The pods of a Job that was deleted without cascading are not adopted by a later Job of the same name.",
		Only:     []string{"job"}},
	{ID: "JOBSEL-9", Kind: Safety, About: Named, Source: "selector-generation.md",
		Sentence: "A controller that creates Jobs (CronJob) can set any labels without breaking uniqueness.",
		Only:     []string{"cronjob"},
		Cases:    []string{"jobselector/cronjob-template-labels"}},
	{ID: "JOBSEL-10", Kind: Seen, About: Server, Source: "selector-generation.md",
		Sentence: "`get pods -l job-name=NAME` finds the Job's pods.",
		Cases:    []string{"jobselector/"}},
}
