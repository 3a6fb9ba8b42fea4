package hosted_test

// differences are the worlds that end otherwise with upstream's controllers than with ours:
// by the findings that they are.
var differences = map[string]string{
	"bugs/c17-slice-held-by-a-finalizer": "C17: the Service has no slice beside the one that is held",
	"bugs/d21-two-that-own-each-other":   "D21: both wait for each other for ever",

	"cronjob/killed-after-the-start": "cronjob-forbids-and-starts-a-second: there are two Jobs",

	"daemonset/pod-is-another":     byName,
	"job/namesake-of-a-pod":        byName,
	"job/namesake-of-a-pod-unseen": "job-strips-a-namesake",
	"overlap/victim-is-another":    byName,

	"orphan/cluster-scoped-object-is-known-from-its-dependent": "the collector looks for its owner in the " +
		"dependent's namespace",
	"orphan/kind-of-the-owner-goes-and-comes": unserved,
	"orphan/orphan-asked-for-twice":           twice,

	"statefulset/name-is-taken": "statefulset-takes-web-01-for-web-1",
	"statefulset/names-decide":  "statefulset-takes-web-01-for-web-1",
}
