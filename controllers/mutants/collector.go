package mutants

import (
	"github.com/threelaws/threelaws/controllers/internal/claimprotection"
	"github.com/threelaws/threelaws/controllers/internal/endpointslice"
	"github.com/threelaws/threelaws/controllers/internal/garbagecollector"
	"github.com/threelaws/threelaws/controllers/internal/namespace"
	"github.com/threelaws/threelaws/controllers/internal/podgc"
	"github.com/threelaws/threelaws/controllers/internal/volumeprotection"
	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/sim/host"
)

var collectorMutants = []mutant{
	{"gc/stale-references", "GC-5", "GC-5",
		"judges an object by the references its graph has, not by the live ones, and deletes whatever version there is",
		collector(func(w *garbagecollector.Without) { w.LiveItem, w.VersionPrecondition = true, true })},
	{"gc/unseen-is-absent", "GC-5", "GC-5",
		"takes an owner that it has not seen yet for absent, without a look",
		collector(func(w *garbagecollector.Without) { w.LiveOwner = true })},
	{"gc/recreated-is-owner", "GC-5", "GC-1",
		"takes a new object of the owner's name for the owner",
		collector(func(w *garbagecollector.Without) { w.OwnerUID = true })},
	{"gc/unknown-kind-is-absent", "GC-5", "GC-5",
		"takes an owner of a kind that is not served for absent",
		collector(func(w *garbagecollector.Without) { w.UnknownKind = true })},
	{"gc/unserved-is-absent", "GC-5", "GC-5",
		"takes an owner for absent because its kind is not served any more",
		collector(func(w *garbagecollector.Without) { w.Unserved = true })},
	{"gc/one-version", "GC-2", "EXACT-7",
		"knows a kind by one of its versions only",
		collector(func(w *garbagecollector.Without) { w.OtherVersions = true })},
	{"gc/one-absent-owner", "GC-1", "GC-5",
		"deletes objects that have a live owner beside an absent one",
		collector(func(w *garbagecollector.Without) { w.EveryOwner = true })},
	{"gc/keep-dead-references", "GC-1", "GC-1",
		"leaves references to absent owners where another owner remains",
		collector(func(w *garbagecollector.Without) { w.DeadRefs = true })},
	{"gc/cut-live-references", "GC-1", "GC-1",
		"cuts references to owners that are there with the dead ones",
		collector(func(w *garbagecollector.Without) { w.LiveRefs = true })},
	{"gc/controllers-only", "ORPHAN-4", "ORPHAN-4",
		"counts only ControllerRefs as owners",
		collector(func(w *garbagecollector.Without) { w.AnyOwner = true })},
	{"gc/overrule-finalizers", "ORPHAN-3", "GC-4",
		"deletes an object whose own orphan finalizer says that its dependents are to stay",
		collector(func(w *garbagecollector.Without) { w.Finalizers = true })},
	{"gc/no-cycle-break", "GC-6", "GC-6",
		"lets a cycle of foreground deletions wait for itself",
		collector(func(w *garbagecollector.Without) { w.Cycles, w.LateCycles = true, true })},
	{"gc/overlooked-cycle", "GC-6", "GC-6",
		"lets a cycle of foreground deletions wait for itself that came about before its graph showed it",
		collector(func(w *garbagecollector.Without) { w.LateCycles = true })},
	{"gc/no-virtual-owners", "GC-6", "GC-1",
		"does not look for owners that it never saw",
		collector(func(w *garbagecollector.Without) { w.Virtual = true })},
	{"gc/found-once", "GC-6", "GC-1",
		"does not look again for an owner that it found once and was never shown",
		collector(func(w *garbagecollector.Without) { w.Unseen = true })},
	{"gc/cluster-scoped-in-a-namespace", "GC-5", "GC-5",
		"looks for a cluster-scoped owner in its dependent's namespace, and concludes that it is absent",
		collector(func(w *garbagecollector.Without) { w.Scope = true })},
	{"gc/namespaced-owner-nowhere", "GC-7", "GC-7",
		"looks for the namespaced owner of a cluster-scoped object in no namespace, and concludes that it is absent",
		collector(func(w *garbagecollector.Without) { w.Reach = true })},
	{"gc/borrowed-namespace", "GC-7", "GC-7",
		"looks for the namespaced owner of a cluster-scoped object that it has not seen where a dependent of that is",
		collector(func(w *garbagecollector.Without) { w.Borrowed = true })},
	{"gc/absent-by-uid", "GC-7", "GC-5",
		"remembers absent owners by uid, so that a wrong reference has the right ones' objects deleted",
		collector(func(w *garbagecollector.Without) { w.AbsentCoordinates = true })},
	{"gc/no-uid-precondition", "GC-9", "GC-9",
		"deletes without naming the uid",
		collector(func(w *garbagecollector.Without) { w.UIDPrecondition = true })},
	{"gc/no-version-precondition", "GC-5", "GC-5",
		"deletes the object in any version, though it may have been adopted since it was read",
		collector(func(w *garbagecollector.Without) { w.VersionPrecondition = true })},
	{"gc/insist-on-conflict", "GC-5", "GC-5",
		"repeats a delete that was refused for its version without looking at the owners again",
		collector(func(w *garbagecollector.Without) { w.ConflictCheck = true })},
	{"gc/foreground-without-waiting", "GC-2", "GC-2",
		"lets an owner go that blocking dependents hold",
		collector(func(w *garbagecollector.Without) { w.Blocking = true })},
	{"gc/foreground-waits-for-all", "GC-2", "GC-2",
		"holds an owner for dependents that do not block",
		collector(func(w *garbagecollector.Without) { w.BlockingOnly = true })},
	{"gc/misses-last-dependent", "GC-2", "GC-2",
		"does not notice that the last blocking dependent has gone",
		collector(func(w *garbagecollector.Without) { w.Report = true })},
	{"gc/waiting-is-solid", "GC-8", "GC-8",
		"counts an owner that waits for the object's deletion as a reason to keep the object",
		collector(func(w *garbagecollector.Without) { w.Waiting = true })},
	{"gc/orphan-finalizer-first", "GC-3", "GC-3",
		"lets an owner go before its dependents are cut loose",
		collector(func(w *garbagecollector.Without) { w.OrphanFirst = true })},
	{"gc/orphan-those-of-the-start", "GC-4", "GC-3",
		"cuts loose the dependents that it knew when it began, not those that it has been shown since",
		collector(func(w *garbagecollector.Without) { w.OrphanAgain = true })},
	{"gc/orphan-despite-errors", "GC-4", "GC-3",
		"lets an owner go although a dependent could not be cut loose",
		collector(func(w *garbagecollector.Without) { w.OrphanErrors = true })},
	{"gc/strip-finalizers", "FIN-1", "FIN-1",
		"takes every finalizer off an object with its own",
		collector(func(w *garbagecollector.Without) { w.OthersStay = true })},
	{"gc/finalizer-by-name", "GC-4", "GC-3",
		"takes the orphan finalizer off whatever object has the owner's name by now",
		collector(func(w *garbagecollector.Without) { w.OrphanOwner = true })},
	{"gc/unread-is-absent", "GC-5", "GC-5",
		"takes an owner that it could not read for absent",
		collector(func(w *garbagecollector.Without) { w.OwnerErrors = true })},
	{"gc/finalizer-is-waiting", "GC-1", "GC-5",
		"treats an owner with the foreground finalizer as terminating, although it is not",
		collector(func(w *garbagecollector.Without) { w.Undeleted = true })},
	{"gc/overrule-foreground", "GC-2", "GC-2",
		"deletes an object in the background whose own finalizer says that its dependents are to go before it",
		collector(func(w *garbagecollector.Without) { w.Foreground = true })},
	{"gc/foreground-over-orphan", "GC-4", "GC-3",
		"deletes an object with its dependents because its owner waits for it, although somebody is deleting it and " +
			"has asked for them to be orphaned",
		collector(func(w *garbagecollector.Without) { w.Exercised = true })},
	{"gc/overrule-the-user", "GC-4", "GC-3",
		"repeats a delete that was refused for its version although somebody has asked for the dependents to be " +
			"orphaned meanwhile",
		collector(func(w *garbagecollector.Without) { w.ConflictPolicy = true })},
	{"gc/believe-the-first", "GC-6", "GC-1",
		"does not look for an owner in a namespace because a cluster-scoped object referred to it first",
		collector(func(w *garbagecollector.Without) { w.Guesses = true })},
	{"gc/once-a-dependent", "GC-6", "GC-6",
		"still counts an object without its reference as a dependent, and a chain as a cycle",
		collector(func(w *garbagecollector.Without) { w.Removed = true })},
	{"gc/misses-releases", "GC-2", "GC-2",
		"does not notice that the last blocking reference was taken off",
		collector(func(w *garbagecollector.Without) { w.Unblock = true })},
	{"gc/begun-is-begun", "GC-3", "GC-3",
		"does not notice a policy that is requested while the object is terminating",
		collector(func(w *garbagecollector.Without) { w.Begun, w.AskedAgain = true, true })},
	{"gc/says-no-policy", "GC-1", "GC-1",
		"deletes without a policy, so that the default of the kind may orphan the dependents",
		collector(func(w *garbagecollector.Without) { w.Policy = true })},
	{"gc/requested-once", "GC-3", "GC-3",
		"does not notice that an object that it has let go is deleted with the same policy again, if its watch had a " +
			"gap in between",
		collector(func(w *garbagecollector.Without) { w.AskedAgain = true })},
}

var namespaceMutants = []mutant{
	{"namespace/everything-at-once", "NS-1", "NS-1",
		"deletes the objects of a namespace without waiting for its pods",
		drainer(func(w *namespace.Without) { w.PodsFirst = true })},
	{"namespace/unknown-is-none", "NS-1", "NS-1",
		"takes pods that it could not count for none, and deletes the rest",
		drainer(func(w *namespace.Without) { w.PodsUnknown = true })},
	{"namespace/no-waiting", "NS-1", "NS-1",
		"lets a namespace go although something in it is held by a finalizer",
		drainer(func(w *namespace.Without) { w.Waiting = true })},
	{"namespace/despite-errors", "NS-1", "NS-1",
		"lets a namespace go although it could not be emptied",
		drainer(func(w *namespace.Without) { w.Errors = true })},
	{"namespace/empties-successors", "NS-1", "NS-1",
		"empties a recreated namespace with the name of one that it was emptying",
		drainer(func(w *namespace.Without) { w.Terminating = true })},
}

// kubeletMutants lack a guard of the kubelet. No law reports them, because the ownership laws do not apply to a
// kubelet. A test reports them: a pod disappears that no other client has deleted.
var kubeletMutants = []mutant{
	{"kubelet/finishes-by-name", "FIN-1", "",
		"ends a pod that has taken the name of the one whose deletion it completes",
		runner(func(w *kubelet.Without) { w.UID = true })},
}

func runner(f func(w *kubelet.Without)) build {
	var o kubelet.Options
	f(&o.Without)
	return build{func() host.Controller { return kubelet.New(o) }, o.Without}
}

var podgcMutants = []mutant{
	{"podgc/trusts-its-cache", "PODGC-1", "keep-runnable-pods",
		"takes a node that its cache does not show for one that is gone, without asking the server",
		reaper(func(w *podgc.Without) { w.LiveNode = true })},
	{"podgc/acts-on-sight", "PODGC-1", "keep-runnable-pods",
		"removes the pods of a node that its cache does not show, at once and without asking the server",
		reaper(func(w *podgc.Without) { w.LiveNode, w.Quarantine = true, true })},
	{"podgc/no-quarantine", "PODGC-1", "keep-runnable-pods",
		"removes the pods of a node at once when it goes, though it may come back",
		reaper(func(w *podgc.Without) { w.Quarantine = true })},
	{"podgc/clears-nodes-in-use", "PODGC-1", "keep-runnable-pods",
		"removes pods from a node with the out-of-service taint though the node is ready",
		reaper(func(w *podgc.Without) { w.OutOfUse = true })},
	{"podgc/clears-nodes-in-trouble", "PODGC-1", "keep-runnable-pods",
		"removes pods from a node that is not ready although it lacks the out-of-service taint",
		reaper(func(w *podgc.Without) { w.Taint = true })},
	{"podgc/clears-out-the-living", "PODGC-1", "keep-runnable-pods",
		"removes pods that are not terminating from a node that is out of service",
		reaper(func(w *podgc.Without) { w.Dying = true })},
	{"podgc/clears-the-queue", "PODGC-1", "keep-runnable-pods",
		"removes pods that wait for a node",
		reaper(func(w *podgc.Without) { w.Unbound = true })},
	{"podgc/removes-unmarked", "PODGC-1", "keep-runnable-pods",
		"removes pods without marking them Failed",
		reaper(func(w *podgc.Without) { w.Mark = true })},
	{"podgc/marks-by-name", "EXACT-4", "EXACT-4",
		"marks whatever pod has the name by now Failed",
		reaper(func(w *podgc.Without) { w.MarkUID = true })},
	{"podgc/removes-by-name", "EXACT-4", "EXACT-4",
		"removes whatever pod has the name by now",
		reaper(func(w *podgc.Without) { w.RemoveUID = true })},
}

func reaper(f func(w *podgc.Without)) build {
	var o podgc.Options
	f(&o.Without)
	return build{func() host.Controller { return podgc.New(o) }, o.Without}
}

var protectionMutants = []mutant{
	{"claimprotection/in-use", "FIN-1", "FIN-3",
		"lets a claim go that a pod uses",
		protector(func(w *claimprotection.Without) { w.InUse = true })},
	{"claimprotection/believes-its-cache", "FIN-1", "FIN-3",
		"lets a claim go that a pod uses that its cache does not show yet",
		protector(func(w *claimprotection.Without) { w.Live = true })},
	{"volumeprotection/in-use", "FIN-1", "FIN-3",
		"lets a volume go that is bound",
		build{func() host.Controller { return volumeprotection.New(volumeprotection.Without{Bound: true}) },
			volumeprotection.Without{Bound: true}}},
}

func protector(f func(w *claimprotection.Without)) build {
	var w claimprotection.Without
	f(&w)
	return build{func() host.Controller { return claimprotection.New(w) }, w}
}

func lister(f func(w *endpointslice.Without)) build {
	var w endpointslice.Without
	f(&w)
	return build{func() host.Controller { return endpointslice.New(w) }, w}
}

var sliceMutants = []mutant{
	{"endpointslice/create-without-ref", "LAW-1", "LAW-1",
		"makes slices without a reference to their Service",
		lister(func(w *endpointslice.Without) { w.TakeOwned = true })},
	{"endpointslice/inherits-by-name", "ADOPT-8", "LAW-2",
		"writes the slices that a former Service of the name has left",
		lister(func(w *endpointslice.Without) { w.OwnerUID = true })},
	{"endpointslice/believes-its-cache", "EXACT-2", "EXACT-2",
		"makes a second slice because its cache is yet to show the first",
		lister(func(w *endpointslice.Without) { w.Stale = true })},
	{"endpointslice/overwrites", "EXACT-5", "EXACT-5",
		"writes a slice from a copy that is older than what it has written itself",
		lister(func(w *endpointslice.Without) { w.Stale, w.Version = true, true })},
	{"endpointslice/waits-for-the-lost", "WATCH-7", "NOFIGHT-3",
		"waits to be shown a slice that was deleted before it could be",
		lister(func(w *endpointslice.Without) { w.Lost = true })},
	{"endpointslice/waits-for-the-terminating", "WATCH-7", "NOFIGHT-3",
		"waits for the end of a deleted slice that another program's finalizer holds",
		lister(func(w *endpointslice.Without) { w.Dying = true })},
	{"endpointslice/ignores-its-slices", "WRITE-7", "NOFIGHT-3",
		"does not notice that others delete its slices",
		lister(func(w *endpointslice.Without) { w.Children = true })},
	{"endpointslice/create-while-deleting", "ADOPT-3", "ADOPT-3",
		"makes slices for a Service that is being deleted",
		lister(func(w *endpointslice.Without) { w.Terminating = true })},
}
