package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/daemonset"
	"github.com/threelaws/threelaws/sim/host"
)

// daemonSetMutants lack a guard of the DaemonSet controller.
var daemonSetMutants = []mutant{
	{"daemonset/acts-while-deleting", "ADOPT-3", "ADOPT-3",
		"creates and deletes pods while it is being deleted",
		daemon(func(w *daemonset.Without) { w.Terminating = true })},
	{"daemonset/skip-recheck", "ADOPT-4", "ADOPT-4",
		"adopts pods on the word of its cache",
		daemon(func(w *daemonset.Without) { w.Ref.LiveCheck = true })},
	{"daemonset/skip-recheck-of-revisions", "ADOPT-4", "ADOPT-4",
		"adopts revisions on the word of its cache",
		daemon(func(w *daemonset.Without) { w.Revisions.LiveCheck = true })},
	{"daemonset/keep-unselected", "ORPHAN-1", "ORPHAN-1",
		"keeps pods that no longer match",
		daemon(func(w *daemonset.Without) { w.Ref.Mismatch = true })},
	{"daemonset/claim-foreign", "LAW-2", "LAW-2",
		"treats matching pods of other controllers as its own",
		daemon(func(w *daemonset.Without) { w.Ref.Foreign = true })},
	{"daemonset/count-unowned", "LAW-3", "LAW-2",
		"counts every matching pod for its node, whoever owns it",
		daemon(func(w *daemonset.Without) { w.OwnCount = true })},
	{"daemonset/status-counts-unowned", "LAW-3", "KIND-DS",
		"counts every matching pod in its status, whoever owns it",
		daemon(func(w *daemonset.Without) { w.OwnStatus = true })},
	{"daemonset/create-without-ref", "LAW-1", "LAW-1",
		"creates pods without a reference to itself",
		daemon(func(w *daemonset.Without) { w.TakeOwned = true })},
	{"daemonset/waits-for-nothing", "EXACT-3", "EXACT-3",
		"creates pods that it has created already, and does not see yet",
		daemon(func(w *daemonset.Without) { w.Wait, w.Consistent = true, true })},
	{"daemonset/sleeps-on-what-it-lost", "WATCH-7", "WATCH-7",
		"waits to see a deletion that nobody will show it",
		daemon(func(w *daemonset.Without) { w.Recheck = true })},
	{"daemonset/pending-pods-are-nowhere", "KIND-DS", "EXACT-3",
		"does not count a pod for the node that it is made for before it is bound",
		daemon(func(w *daemonset.Without) { w.Target = true })},
	{"daemonset/two-on-a-node", "KIND-DS", "KIND-DS",
		"leaves several pods on a node",
		daemon(func(w *daemonset.Without) { w.Surplus = true })},
	{"daemonset/every-node", "KIND-DS", "KIND-DS",
		"makes a pod for each node, whatever its labels and taints are",
		daemon(func(w *daemonset.Without) { w.Eligible = true })},
	{"daemonset/stays-on-lost-nodes", "KIND-DS", "KIND-DS",
		"leaves pods on nodes that are not eligible any more",
		daemon(func(w *daemonset.Without) { w.Evict = true })},
	{"daemonset/ended-pods-stay", "KIND-DS", "KIND-DS",
		"leaves pods that have failed",
		daemon(func(w *daemonset.Without) { w.Ended = true })},
	{"daemonset/ended-pods-block", "KIND-DS", "KIND-DS",
		"makes no new pod while one that has ended is kept by a finalizer",
		daemon(func(w *daemonset.Without) { w.Dying = true })},
	// Upstream's is woken by none of the events after which such a pod is there, so
	// that it stays at rest as well.
	{"daemonset/keeps-pods-of-lost-nodes", "KIND-DS", "",
		"leaves pods that wait for a node that is gone",
		daemon(func(w *daemonset.Without) { w.Lost = true })},
	{"daemonset/impatient", "WRITE-8", "",
		"replaces a pod that fails again and again as fast as it fails",
		daemon(func(w *daemonset.Without) { w.Patience = true })},
	{"daemonset/delete-any-incarnation", "EXACT-4", "EXACT-4",
		"deletes whatever pod has the name by now",
		daemon(func(w *daemonset.Without) { w.VictimUID = true })},
	{"daemonset/duplicates-go-untold", "KIND-DS", "EXACT-9",
		"deletes a duplicate of its current revision without telling the pods that are of it",
		daemon(func(w *daemonset.Without) { w.Relabel = true })},
	{"daemonset/relabels-by-name", "EXACT-4", "EXACT-4",
		"tells whatever pod has the name by now which revision it is of",
		daemon(func(w *daemonset.Without) { w.RelabelUID = true })},
	{"daemonset/name-is-content", "LAW-3", "EXACT-9",
		"takes a revision whose name it wanted for its own, whatever that holds",
		daemon(func(w *daemonset.Without) { w.Collision = true })},
	{"daemonset/forgets-revisions-in-use", "KIND-DS", "EXACT-9",
		"deletes revisions that pods are of",
		daemon(func(w *daemonset.Without) { w.InUse = true })},
	{"daemonset/forgets-any-revision", "EXACT-4", "EXACT-4",
		"deletes whatever revision has the name by now",
		daemon(func(w *daemonset.Without) { w.RevisionUID = true })},
	{"daemonset/mutate-the-cache", "WRITE-5", "WRITE-5",
		"changes a set in its cache",
		daemon(func(w *daemonset.Without) { w.SharedCache = true })},
	{"daemonset/resync-is-change", "WRITE-9", "WRITE-9",
		"takes a resync for a change, and writes its status for it",
		daemon(func(w *daemonset.Without) { w.Routing.Resync, w.Unchanged = true, true })},
}

// daemon is a DaemonSet controller of today without what f sets.
func daemon(f func(w *daemonset.Without)) build {
	o := daemonset.Options{Generation: daemonset.Current}
	f(&o.Without)
	return build{func() host.Controller { return daemonset.New(o) }, o.Without}
}
