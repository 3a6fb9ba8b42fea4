package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/deployment"
	"github.com/threelaws/threelaws/sim/host"
)

// rolling is a Deployment controller without what f sets.
func rolling(f func(w *deployment.Without)) build {
	o := deployment.Options{Era: deployment.Current}
	f(&o.Without)
	return build{func() host.Controller { return deployment.New(o) }, o.Without}
}

// deploymentMutants lack a guard of the Deployment controller.
var deploymentMutants = []mutant{
	{"deployment/skip-recheck", "ADOPT-4", "ADOPT-4",
		"adopts ReplicaSets on the word of its cache, without reading itself live first",
		rolling(func(w *deployment.Without) { w.Ref.LiveCheck = true })},
	{"deployment/claim-foreign", "LAW-2", "LAW-2",
		"treats matching ReplicaSets of other Deployments as its own, and scales them down as old ones",
		rolling(func(w *deployment.Without) { w.Ref.Foreign = true })},
	{"deployment/keep-unselected", "ORPHAN-1", "ORPHAN-1",
		"keeps ReplicaSets that no longer match",
		rolling(func(w *deployment.Without) { w.Ref.Mismatch = true })},
	{"deployment/status-counts-unowned", "LAW-3", "EXACT-8",
		"counts the pods of every matching ReplicaSet in its status, whoever owns it",
		rolling(func(w *deployment.Without) { w.OwnStatus = true })},
	{"deployment/count-before-claim", "UPGRADE-1", "EXACT-3",
		"looks for its ReplicaSet among those that it owned before it adopted orphans, and makes another",
		rolling(func(w *deployment.Without) { w.ClaimFirst = true })},
	{"deployment/create-without-ref", "LAW-1", "LAW-1",
		"makes ReplicaSets without a reference to itself",
		rolling(func(w *deployment.Without) { w.TakeOwned = true })},
	{"deployment/roll-while-deleting", "ADOPT-3", "ADOPT-3",
		"goes on rolling out while it is being deleted",
		rolling(func(w *deployment.Without) { w.Terminating = true })},
	{"deployment/annotate-while-deleting", "ADOPT-3", "ADOPT-3",
		"writes the annotations of its ReplicaSet while it is being deleted",
		rolling(func(w *deployment.Without) { w.Untouched = true })},
	{"deployment/name-by-chance", "EXACT-3", "EXACT-3",
		"makes ReplicaSets whose names do not follow from the template, and another while its cache shows none",
		rolling(func(w *deployment.Without) { w.NameOfTemplate = true })},
	{"deployment/take-what-has-the-name", "LAW-2", "LAW-2",
		"takes a ReplicaSet that has the name of the one it wants for it, though another owns it",
		rolling(func(w *deployment.Without) { w.Taken = true })},
	{"deployment/collide-for-ever", "WRITE-8", "EXACT-7",
		"tries the name that is taken again and again",
		rolling(func(w *deployment.Without) { w.Collisions = true })},
	{"deployment/find-by-hash", "UPGRADE-1", "EXACT-3",
		"knows its ReplicaSet by the hash that it would give it itself, not by the template",
		rolling(func(w *deployment.Without) { w.SameTemplate = true })},
	{"deployment/forget-any-incarnation", "EXACT-4", "EXACT-4",
		"deletes old ReplicaSets by name, whatever has it by now",
		rolling(func(w *deployment.Without) { w.VictimUID = true })},
	{"deployment/forget-what-is-at-work", "EXACT-11", "EXACT-11",
		"deletes old ReplicaSets none of whose pods is ready",
		rolling(func(w *deployment.Without) { w.Idle = true })},
	{"deployment/all-at-once", "EXACT-11", "EXACT-11",
		"asks for all pods of a new template at once, whatever surge is allowed",
		rolling(func(w *deployment.Without) { w.Room = true })},
	{"deployment/gives-up-too-much", "EXACT-11", "EXACT-11",
		"gives up old pods before there are others that are available",
		rolling(func(w *deployment.Without) { w.Least = true })},
	{"deployment/starts-beside-the-old", "EXACT-11", "EXACT-11",
		"asks for new pods while old ones run, though they are to be recreated",
		rolling(func(w *deployment.Without) { w.Empty = true })},
	{"deployment/resync-is-change", "WRITE-9", "WRITE-9",
		"takes a resync for a change, and writes the status that is there already",
		rolling(func(w *deployment.Without) { w.Routing.Resync, w.Unchanged = true, true })},
	{"deployment/delete-pods", "KIND-DEPLOY", "LAW-2",
		"deletes the pods of old ReplicaSets itself",
		rolling(func(w *deployment.Without) { w.Pods = true })},
}
