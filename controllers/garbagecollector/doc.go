// Package garbagecollector is the garbage collector. It deletes objects whose owners are all gone, and carries out the
// deletion policies foreground and orphan. It treats ControllerRefs like other references (ORPHAN-4).
//
// It watches every kind and keeps a graph of references, keyed by uid (graph.go). Events change the graph and queue
// work: "delete UID" checks whether to delete an object (collect.go), "orphan UID" orphans its dependents and releases
// it (orphan.go), "report UID OWNERUID" writes an event about a reference into another namespace (report.go). The graph
// lags behind the server, so it only says what to check. Actions rely on live reads, and every delete carries the uid
// and version that was read (GC-5, GC-9).
package garbagecollector

// Without names guards to disable; see package mutants. The zero value keeps all. One place in the code checks each
// guard.
type Without struct {
	LiveItem      bool // read an object's owners from the graph, not from the server
	LiveOwner     bool // an owner missing from the graph is absent, without a live read
	OwnerUID      bool // a recreated owner of the same name counts as the owner
	OwnerErrors   bool // an owner that could not be read is absent
	UnknownKind   bool // an owner of an unknown kind is absent
	Unserved      bool // ... and one of a kind that has ceased to be served since it was looked up
	OtherVersions bool // ... and one that is named by another version of its kind than the one that is stored
	EveryOwner    bool // one absent owner is enough
	DeadRefs      bool // keep references to absent owners if another owner remains
	LiveRefs      bool // cut references to live owners with those to absent ones
	AnyOwner      bool // only ControllerRefs count as owners
	Waiting       bool // an owner in foreground deletion counts as solid
	Undeleted     bool // the foreground finalizer alone, without a deletion, counts as foreground deletion
	Finalizers    bool // ignore an object's own orphan or foreground finalizer
	Foreground    bool // ... the foreground finalizer alone
	Asked         bool // ... or the orphan finalizer of a requested deletion, if an owner waits for the object
	Cycles        bool // do not break cycles of foreground deletions
	LateCycles    bool // ... that formed before the graph showed them
	Virtual       bool // do not look for owners that were never seen
	Unseen        bool // do not look again for an owner that was found once, seen or not
	Scope         bool // look for a cluster-scoped owner in its dependent's namespace
	Reach         bool // look for a namespaced owner of a cluster-scoped object in no namespace
	Borrowed      bool // look for owners of a cluster-scoped object in its dependent's namespace
	Guesses       bool // trust what a cluster-scoped object says about a namespaced owner
	Removed       bool // keep an object as dependent of owners that it no longer refers to

	UIDPrecondition     bool // deletes do not carry the uid
	VersionPrecondition bool // deletes do not carry the version
	ConflictCheck       bool // repeat a delete after a version conflict whoever owns the object now
	ConflictPolicy      bool // ... and whatever was requested for its dependents now
	Policy              bool // background deletes name no policy: the kind's default applies

	AbsentCoordinates bool // remember absent owners by uid only
	Blocking          bool // foreground deletion waits for no dependent
	BlockingOnly      bool // foreground deletion waits for dependents that do not block
	Unblock           bool // do not check an owner when a blocking reference to it is removed
	Report            bool // do not check owners in foreground deletion when a dependent is gone

	OrphanFirst  bool // remove the orphan finalizer before the dependents are orphaned
	OrphanAgain  bool // ... although the graph has shown another dependent meanwhile
	OrphanErrors bool // ... although orphaning one failed
	OthersStay   bool // remove the finalizers of others with its own
	OrphanOwner  bool // ... from any object that has the owner's name now

	Begun      bool // miss a deletion policy that is requested during the deletion
	AskedAgain bool // ... or only one requested again within a gap of the watch
}
