package conform

const playedHead = `
## Played step by step

These are written out: holds and steps bring about the moment that matters, so that it can be read. The last column is
the guard that the file shows to be needed.

| bug | what happened | file | without the guard |
|---|---|---|---|
`

// played are bugs whose files say what happens when.
var played = []struct{ bug, what, file, without string }{
	{"kubernetes#42639", "a controller adopts again what was just orphaned from it",
		"orphan/blind-to-its-own-deletion", "`replicaset/skip-recheck`"},
	{"redpanda-operator#1795", "the same, after the collector's only pass: the Pods die",
		"orphan/adopted-after-the-orphan-pass", "`replicaset/skip-recheck`"},
	{"kubernetes#24934", "a controller that is being deleted goes on creating",
		"orphan/deleting-set-adopts-nothing", "`replicaset/scale-while-deleting`"},
	{"kubernetes#44046", "a background deletion ends at the second level",
		"orphan/dependent-with-its-own-orphan-finalizer", "`gc/overrule-finalizers`"},
	{"kubernetes#65200", "owners with wrong coordinates: the innocent are collected",
		"orphan/owner-in-another-namespace", "`gc/absent-by-uid`"},
	{"kubernetes#65200", "owners with wrong coordinates: the innocent are collected",
		"orphan/wrong-name-right-uid", "`gc/absent-by-uid`"},
	{"kubernetes#114603", "collected although it had just been handed to another owner",
		"orphan/handed-over-at-the-last-moment", "`gc/insist-on-conflict`"},
	{"kubernetes#26120", "the orphan request is seen before the dependents",
		"orphan/dependent-seen-during-the-orphan-pass", "`gc/orphan-those-of-the-start`"},
	{"read in v1.36.3, not reported", "a deletion that is asked for again in a gap of the collector's watch hangs",
		"orphan/foreground-asked-for-twice", "`gc/asked-once`"},
	{"read in v1.36.3, not reported", "a deletion that is asked for again in a gap of the collector's watch hangs",
		"orphan/orphan-asked-for-twice", "`gc/asked-once`"},
	{"read in v1.36.3, not reported", "an error while a namespace's Pods are deleted, and the rest goes before them",
		"orphan/namespace-whose-pods-cannot-be-counted", "`namespace/unknown-is-none`"},
	{"read in v1.36.3, not reported", "a Pod that its set first sees dying, after a gap in the watch, is no " +
		"creation to it, and it sleeps",
		"overlap/first-seen-dying", "`expectations/first-seen-dying`"},
	{"read in v1.36.3, known there", "a cycle of foreground deletions that the collector's graph shows late " +
		"is not broken",
		"orphan/foreground-cycle", "`gc/overlooked-cycle`"},
	{"read in v1.36.3, not reported", "a refused deletion is repeated over the orphan finalizer that a user " +
		"has just asked for",
		"orphan/orphaned-while-it-is-collected", "`gc/overrule-the-user`"},
}
