// Package garbagecollector is the garbage collector: it deletes what has no
// owner left, and it carries out the deletion policies that need somebody to
// (foreground, orphan). It does not care whether a reference is a ControllerRef
// (ORPHAN-4).
//
// It watches every kind and keeps a graph of who refers to whom, keyed by uid
// (graph.go). Events change the graph and queue work: "delete UID", look whether
// that object is to go (collect.go); "orphan UID", cut its dependents loose and
// let it go (orphan.go); "report UID OWNERUID", write an event about a reference
// into another namespace (report.go). The graph lags behind the server and says
// only what is worth a look; what is done rests on live reads, and every delete
// carries the uid and the version that was read (GC-5, GC-9).
package garbagecollector

// Without names guards to leave out; see package mutants. The zero value keeps
// them all. Each guard is checked at one place.
type Without struct {
	LiveItem      bool // an object's owners are taken from the graph, not from the server
	LiveOwner     bool // an owner the graph has not seen is absent, without a look
	OwnerUID      bool // an owner's namesake passes for the owner
	OwnerErrors   bool // an owner that could not be read is absent
	UnknownKind   bool // an owner of an unknown kind is absent
	Unserved      bool // ... and one of a kind that has ceased to be served since it was looked up
	OtherVersions bool // ... and one that is named by another version of its kind than the one that is stored
	EveryOwner    bool // one absent owner is enough
	DeadRefs      bool // references to absent owners are left where another owner remains
	LiveRefs      bool // references to live owners are cut with the dead ones
	AnyOwner      bool // only ControllerRefs count as owners
	Waiting       bool // an owner in foreground deletion counts like any other
	Undeleted     bool // an owner with the foreground finalizer is in foreground deletion though nobody deletes it
	Finalizers    bool // an object's own orphan or foreground finalizer is overruled
	Foreground    bool // ... the foreground finalizer alone
	Asked         bool // ... or, where an owner waits for it, the orphan finalizer that its deletion asked for
	Cycles        bool // cycles of foreground deletions are not broken up
	LateCycles    bool // ... which came about before the graph showed them
	Virtual       bool // owners that were never seen are not looked for
	Unseen        bool // an owner that was found once is not looked for again, seen or not
	Scope         bool // a cluster-scoped owner is looked for in its dependent's namespace
	Reach         bool // a namespaced owner of a cluster-scoped object is looked for in no namespace
	Borrowed      bool // owners of a cluster-scoped object are looked for in the namespace of who refers to it
	Guesses       bool // what a cluster-scoped object says of a namespaced owner is not doubted
	Removed       bool // an object remains a dependent of owners that it no longer refers to

	UIDPrecondition     bool // deletes do not carry the uid
	VersionPrecondition bool // deletes do not carry the version
	ConflictCheck       bool // a delete refused for its version is repeated whoever owns the object by now
	ConflictPolicy      bool // ... whatever was asked for its dependents by now
	Policy              bool // deletes in the background do not say so: the kind's default holds

	AbsentCoordinates bool // absent owners are remembered by uid alone
	Blocking          bool // foreground deletion waits for no dependent
	BlockingOnly      bool // foreground deletion waits for dependents that do not block
	Unblock           bool // an owner is not told that a reference that blocked it is gone
	Report            bool // owners in foreground deletion are not told that a dependent is gone

	OrphanFirst  bool // the orphan finalizer is removed before the dependents are cut loose
	OrphanAgain  bool // ... although the graph has come to know of another dependent
	OrphanErrors bool // ... although a dependent could not be
	OthersStay   bool // the finalizers of others are removed with the collector's own
	OrphanOwner  bool // ... from whatever object has the owner's name by now

	Begun      bool // a deletion policy that is asked for while the object is being deleted goes unnoticed
	AskedAgain bool // ... or only what was asked for before, in a gap of the watch
}
