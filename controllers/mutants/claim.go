package mutants

import "github.com/threelaws/threelaws/controllers/replicas"

// claimMutants lack a guard of claim and adopt (package ref).
var claimMutants = []Mutant{
	{"replicaset/skip-recheck", "ADOPT-4", "ADOPT-4",
		"adopts on the word of its cache, without reading itself live first",
		of(func(w *replicas.Without) { w.Ref.LiveCheck = true })},
	{"replicaset/recheck-ignores-uid", "ADOPT-8", "ADOPT-4",
		"takes a namesake that was found live for itself, and adopts for an owner that is gone",
		of(func(w *replicas.Without) { w.Ref.LiveUID = true })},
	{"replicaset/recheck-ignores-deletion", "ADOPT-4", "ADOPT-4",
		"adopts although the live read showed that it is being deleted",
		of(func(w *replicas.Without) { w.Ref.LiveDeletion = true })},
	{"replicaset/adopt-while-deleting", "ADOPT-3", "ADOPT-3",
		"adopts while it is being deleted, and knows it",
		of(func(w *replicas.Without) { w.Ref.Deletion, w.Ref.LiveDeletion = true, true })},
	{"replicaset/readopt-orphaned", "ADOPT-7", "ADOPT-7",
		"adopts again the pods that its own deletion is orphaning",
		of(func(w *replicas.Without) { w.Ref.Deletion, w.Ref.LiveCheck = true, true })},
	{"replicaset/adopt-deleting-pod", "ADOPT-5", "ADOPT-5",
		"adopts pods that are being deleted",
		of(func(w *replicas.Without) { w.Ref.ObjectDeletion, w.Active = true, true })},
	{"replicaset/adopt-unselected", "ADOPT-1", "ADOPT-1",
		"adopts every orphan of its namespace, selected or not",
		of(func(w *replicas.Without) { w.Ref.Selector, w.Ref.Mismatch = true, true })},
	{"replicaset/adopt-across-namespaces", "ADOPT-1", "ADOPT-1",
		"adopts matching orphans of other namespaces",
		of(func(w *replicas.Without) { w.Ref.Namespace = true })},
	{"replicaset/claim-foreign", "LAW-2", "LAW-2",
		"treats matching pods of other controllers as its own",
		of(func(w *replicas.Without) { w.Ref.Foreign = true })},
	{"replicaset/adopt-by-replacing", "API-6", "API-4",
		"adopts by writing a list of owners of its own, so that it takes a pod that another has just adopted",
		of(func(w *replicas.Without) { w.Ref.AppendOnly = true })},
	{"replicaset/adopt-any-incarnation", "ADOPT-1", "ADOPT-1",
		"adopts by name: a pod that took the place of the one it judged is adopted unseen",
		of(func(w *replicas.Without) { w.Ref.DependentUID = true })},
	{"replicaset/insist", "ADOPT-6", "LAW-3",
		"goes on as if it had won an adoption that was refused",
		of(func(w *replicas.Without) { w.Ref.Loser = true })},
	{"replicaset/adopt-nothing", "ADOPT-2", "WATCH-4",
		"never hears of orphans that were made after it",
		of(func(w *replicas.Without) {
			w.Routing.OrphanAdd, w.Routing.OrphanLabels, w.Routing.Removal = true, true, true
		})},
}

// releaseMutants lack a guard of release (package ref).
var releaseMutants = []Mutant{
	{"replicaset/keep-unselected", "ORPHAN-1", "ORPHAN-1",
		"keeps pods that no longer match",
		of(func(w *replicas.Without) { w.Ref.Mismatch = true })},
	{"replicaset/release-all-owners", "ORPHAN-1", "ORPHAN-1",
		"removes the references of other owners with its own",
		of(func(w *replicas.Without) { w.Ref.OwnEntryOnly = true })},
	{"replicaset/release-while-deleting", "ADOPT-3", "ADOPT-3",
		"releases pods while it is being deleted",
		of(func(w *replicas.Without) { w.Ref.ReleaseDeletion = true })},
	{"replicaset/release-fails-on-404", "ORPHAN-2", "ORPHAN-2",
		"fails because a pod that it wants to release is gone",
		of(func(w *replicas.Without) { w.Ref.Gone = true })},
	{"replicaset/release-fails-on-422", "ORPHAN-2", "ORPHAN-2",
		"fails because a pod that it wants to release has been replaced by a namesake",
		of(func(w *replicas.Without) { w.Ref.Replaced = true })},
}

// scaleMutants lack a guard of counting, creating and deleting (package replicas).
var scaleMutants = []Mutant{
	{"replicaset/create-without-ref", "LAW-1", "LAW-1",
		"creates pods without a reference to itself",
		of(func(w *replicas.Without) { w.TakeOwned = true })},
	{"replicaset/create-without-controller", "API-2", "LAW-1",
		"creates pods with a reference to itself that is not a ControllerRef",
		of(func(w *replicas.Without) { w.Controller = true })},
	{"replicaset/count-unowned", "LAW-3", "LAW-3",
		"counts every matching pod towards its replicas, whoever owns it",
		of(func(w *replicas.Without) { w.OwnCount = true })},
	{"replicaset/delete-unowned", "LAW-2", "LAW-2",
		"deletes surplus pods among all that match, whoever owns them",
		of(func(w *replicas.Without) { w.OwnVictims = true })},
	{"replicaset/status-counts-unowned", "LAW-3", "LAW-3",
		"counts every matching pod in its status, whoever owns it",
		of(func(w *replicas.Without) { w.OwnStatus = true })},
	{"replicaset/scale-while-deleting", "ADOPT-3", "ADOPT-3",
		"creates and deletes pods while it is being deleted",
		of(func(w *replicas.Without) { w.Terminating = true })},
}
