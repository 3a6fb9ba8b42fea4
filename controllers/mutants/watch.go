package mutants

import (
	"github.com/threelaws/threelaws/controllers/replicas"
	"github.com/threelaws/threelaws/sim/host"
)

// expectationMutants lack a guard of the expectations.
var expectationMutants = []Mutant{
	{"expectations/no-wait", "WATCH-2", "",
		"creates and deletes again before it has seen what it created and deleted",
		of(func(w *replicas.Without) { w.Wait = true })},
	{"expectations/record-after-writing", "WATCH-7", "WATCH-7",
		"records what it expects after the writes, when it may have come already",
		of(func(w *replicas.Without) { w.ExpectFirst, w.Recheck = true, true })},
	{"expectations/creation-never-seen", "WATCH-2", "WATCH-7",
		"waits on for creations that it has been shown",
		of(func(w *replicas.Without) { w.CreationSeen = true })},
	{"expectations/failed-creation", "WATCH-7", "WATCH-7",
		"waits for creations that failed",
		of(func(w *replicas.Without) { w.FailedCreation = true })},
	{"expectations/missing-deletion", "WATCH-7", "WATCH-7",
		"waits for deletions of pods that were gone already",
		of(func(w *replicas.Without) { w.MissingDeletion, w.Recheck = true, true })},
	{"expectations/events-only", "WATCH-7", "WATCH-7",
		"waits for the event of a deletion that will not be shown to it: the pod has lost its owner, or was being deleted already",
		of(func(w *replicas.Without) { w.Recheck = true })},
	{"expectations/wrong-controller", "WATCH-2", "WATCH-2",
		"moves the expectations of the oldest matching controller, not the owner's",
		of(func(w *replicas.Without) { w.Routing.OwnExpectations = true })},
	{"expectations/orphan-counts", "WATCH-4", "WATCH-4",
		"takes a new orphan for a creation that it waits for",
		of(func(w *replicas.Without) { w.Routing.OrphanUncounted = true })},
	{"expectations/outlive-deletion", "WATCH-7", "WATCH-7",
		"keeps the expectations of a set that was deleted for the next one of that name",
		of(func(w *replicas.Without) {
			w.Missing, w.Successor, w.Routing.OwnDeletion, w.Successor, w.Routing.Incarnation, w.Recheck = true, true, true, true, true, true
		})},
	{"expectations/outlive-replacement", "ADOPT-8", "WATCH-7",
		"keeps the expectations of a set that was replaced by a namesake between two events",
		of(func(w *replicas.Without) { w.Successor, w.Routing.Incarnation, w.Recheck = true, true, true })},
	{"expectations/late-for-predecessor", "ADOPT-8", "WATCH-7",
		"takes over what a sync of a namesake that was replaced meanwhile had come to expect",
		of(func(w *replicas.Without) { w.Successor, w.Recheck = true, true })},
	{"expectations/wait-for-removal", "WATCH-7", "WATCH-7",
		"waits until a deleted pod is gone, which its finalizers may never let it be",
		of(func(w *replicas.Without) { w.Routing.Graceful, w.Recheck = true, true })},
	{"expectations/no-tombstones", "WATCH-7", "WATCH-1",
		"does not see deletions that a relist reveals",
		of(func(w *replicas.Without) { w.Routing.Tombstone, w.Recheck = true, true })},
}

// routingMutants lack a rule of routing.
var routingMutants = []Mutant{
	{"routing/by-name", "WATCH-1", "WATCH-1",
		"wakes a namesake of the owner",
		of(func(w *replicas.Without) { w.Routing.UID = true })},
	{"routing/any-kind", "WATCH-1", "WATCH-1",
		"wakes its own object for an event on an object of another kind's namesake",
		of(func(w *replicas.Without) { w.Routing.Kind = true })},
	{"routing/everybody", "WATCH-1", "WATCH-1",
		"wakes every matching controller for an event on an owned pod",
		of(func(w *replicas.Without) { w.Routing.OnlyOne = true })},
	{"routing/forget-old-owner", "WATCH-3", "WATCH-3",
		"does not wake the owner that has lost a pod",
		of(func(w *replicas.Without) { w.Routing.OldOwner = true })},
	{"routing/ignore-removal", "WATCH-3", "WATCH-3",
		"offers a pod that has just lost its owner to nobody",
		of(func(w *replicas.Without) { w.Routing.Removal = true })},
	{"routing/ignore-orphans", "WATCH-4", "WATCH-4",
		"offers new orphans to nobody",
		of(func(w *replicas.Without) { w.Routing.OrphanAdd = true })},
	{"routing/orphan-deletions", "WATCH-5", "WATCH-5",
		"wakes matching controllers because an orphan was deleted",
		of(func(w *replicas.Without) { w.Routing.OrphanDelete = true })},
	{"routing/ignore-labels", "WATCH-6", "WATCH-6",
		"offers an orphan whose labels have changed to nobody",
		of(func(w *replicas.Without) { w.Routing.OrphanLabels = true })},
	{"routing/every-orphan-update", "WATCH-6", "WATCH-6",
		"wakes matching controllers for every update of an orphan",
		of(func(w *replicas.Without) { w.Routing.OrphanQuiet = true })},
}

// writingMutants lack a rule that any controller follows.
var writingMutants = []Mutant{
	{"replicaset/careless-queue", "WRITE-1", "WRITE-1",
		"syncs one key with two workers at once",
		declared(func(c *host.Controller) { c.CarelessQueue, c.Workers = true, 2 })},
	{"replicaset/mutate-cache", "WRITE-5", "WRITE-5",
		"changes cached pods in place",
		of(func(w *replicas.Without) { w.SharedCache = true })},
	{"replicaset/start-unsynced", "WRITE-6", "WRITE-6",
		"starts before its caches have synced",
		declared(func(c *host.Controller) { c.StartUnsynced = true })},
	{"replicaset/drop-errors", "WRITE-8", "WRITE-8",
		"does not try again after an error",
		declared(func(c *host.Controller) { c.DropErrors = true })},
	{"replicaset/no-backoff", "WRITE-8", "WRITE-8",
		"tries again at once after an error",
		of(func(w *replicas.Without) { w.Backoff = true })},
	{"replicaset/resync-is-change", "WRITE-9", "WRITE-9",
		"takes a resync for a change, and writes its status for it",
		of(func(w *replicas.Without) { w.Routing.Resync, w.Unchanged = true, true })},
}
