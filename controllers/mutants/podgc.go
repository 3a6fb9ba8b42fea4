package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/sim/host"
)

// podgcMutants lack a guard of the pod garbage collector.
var podgcMutants = []mutant{
	{"podgc/trusts-its-cache", "PODGC-1", "PODGC-1",
		"takes a node that its cache does not show for one that is gone, without asking the server",
		reaper(func(w *podgc.Without) { w.LiveNode = true })},
	{"podgc/acts-on-sight", "PODGC-1", "PODGC-1",
		"removes the pods of a node that its cache does not show, at once and without asking the server",
		reaper(func(w *podgc.Without) { w.LiveNode, w.Quarantine = true, true })},
	{"podgc/no-quarantine", "PODGC-1", "PODGC-1",
		"removes the pods of a node at once when it goes, though it may come back",
		reaper(func(w *podgc.Without) { w.Quarantine = true })},
	{"podgc/clears-nodes-in-use", "PODGC-1", "PODGC-1",
		"removes pods from a node with the out-of-service taint though the node is ready",
		reaper(func(w *podgc.Without) { w.OutOfUse = true })},
	{"podgc/clears-nodes-in-trouble", "PODGC-1", "PODGC-1",
		"removes pods from a node that is not ready though nobody said that it is out of service",
		reaper(func(w *podgc.Without) { w.Taint = true })},
	{"podgc/clears-out-the-living", "PODGC-1", "PODGC-1",
		"removes pods from a node that is out of service though nobody deletes them",
		reaper(func(w *podgc.Without) { w.Dying = true })},
	{"podgc/clears-the-queue", "PODGC-1", "PODGC-1",
		"removes pods that wait for a node",
		reaper(func(w *podgc.Without) { w.Unbound = true })},
	{"podgc/removes-unmarked", "PODGC-1", "PODGC-1",
		"removes pods without marking them Failed",
		reaper(func(w *podgc.Without) { w.Mark = true })},
	{"podgc/marks-by-name", "EXACT-4", "EXACT-4",
		"marks whatever pod has the name by now Failed",
		reaper(func(w *podgc.Without) { w.MarkUID = true })},
	{"podgc/removes-by-name", "EXACT-4", "EXACT-4",
		"removes whatever pod has the name by now",
		reaper(func(w *podgc.Without) { w.RemoveUID = true })},
}

// reaper is a pod garbage collector without what f sets.
func reaper(f func(w *podgc.Without)) build {
	var o podgc.Options
	f(&o.Without)
	return build{func() host.Controller { return podgc.New(o) }, o.Without}
}
