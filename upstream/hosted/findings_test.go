package hosted_test

// accusation is a law that upstream's controllers break in a world of the library.
type accusation struct{ world, law string }

const unserved = "gc-takes-an-unserved-kind-for-an-absent-owner"

const twice = "gc-misses-a-second-deletion: D12 is mended where there is no gap in the watch"

const byName = "replicaset-deletes-a-namesake: a pod is deleted by its name, without a uid"

// findings are the accusations that are true: the bug of the collection, or the finding of
// docs/evidence/findings.md, that each of them is.
var findings = map[accusation]string{
	{"bugs/b21-cronjob-takes-jobs-by-name", "dont-interfere"}:  "B21: Jobs are known by the name of their controller",
	{"bugs/c17-slice-held-by-a-finalizer", "exact-sum"}:        "C17: a slice that is held counts as one to come",
	{"bugs/c21-daemonset-stays-one-short", "one-on-each-node"}: "C21: nobody is told that an orphan is gone",
	{"bugs/d21-two-that-own-each-other", "resolve-the-unseen"}: "D21: a circle whose objects both wait is not broken",

	{"cronjob/replaces-the-first", "never-too-many"}:           "cronjob-forbids-and-starts-a-second, by Replace",
	{"cronjob/namesake-of-a-finished-job", "same-incarnation"}: "cronjob-deletes-a-namesake",
	{"cronjob/replaces-the-first", "dont-interfere"}:           "cronjob-replaces-what-it-had-lost",

	{"orphan/cluster-scoped-object-is-known-from-its-dependent", "check-before-collecting"}: "gc-borrows-a-namespace",

	{"bugs/b19-children-found-by-labels-that-change", "never-too-many"}: "cronjob-asks-in-no-namespace",
	{"cronjob/forbids-a-second", "never-too-many"}:                      "cronjob-asks-in-no-namespace",
	{"bugs/b26-endpointslices-that-others-change", "exact-sum"}:         "endpointslice-forgets-what-it-made",
	{"deployment/history-is-forgotten", "same-incarnation"}:             "deployment-deletes-a-namesake",

	{"daemonset/pod-is-another", "same-incarnation"}:  byName,
	{"job/namesake-of-a-pod", "dont-interfere"}:       byName,
	{"job/namesake-of-a-pod", "same-incarnation"}:     byName,
	{"overlap/victim-is-another", "same-incarnation"}: byName,

	{"job/namesake-of-a-pod-unseen", "same-incarnation"}: "job-strips-a-namesake",
	{"overlap/set-replaced-amid-a-sync", "exact-sum"}:    "waits-for-its-predecessor",

	{"statefulset/name-is-taken", "release-what-left"}:    "statefulset-takes-web-01-for-web-1",
	{"statefulset/names-decide", "exact-sum"}:             "statefulset-takes-web-01-for-web-1",
	{"statefulset/victim-is-another", "same-incarnation"}: "statefulset-deletes-a-namesake",

	{"orphan/foreground-asked-for-twice", "owner-waits"}:     twice,
	{"orphan/orphan-asked-for-twice", "orphan-before-going"}: twice,

	{"orphan/kind-of-the-owner-goes-and-comes", "check-before-collecting"}: unserved,
}
