package ref

// Without names guards to leave out. The zero value keeps them all; a
// controller that runs with one of them set is a mutant (package mutants).
// Each guard is checked at one place.
type Without struct {
	Foreign         bool // matching objects with another controller's ControllerRef are claimed like own ones
	Selector        bool // orphans are adopted whether or not they match
	Namespace       bool // orphans of other namespaces are adopted
	Deletion        bool // a controller that its own cache shows as being deleted adopts
	ReleaseDeletion bool // ... and releases
	ObjectDeletion  bool // objects being deleted are adopted
	Mismatch        bool // own objects that no longer match are kept
	Match           bool // own objects that match are released like others

	LiveCheck    bool // no live check before the first adoption of a sync
	LiveUID      bool // the live check does not compare uids
	LiveDeletion bool // the live check does not look at deletionTimestamp

	DependentUID  bool // patches do not carry the dependent's uid
	AppendOnly    bool // adoption replaces the list of owners
	AdoptFields   bool // adoption takes the dependent's finalizers off, too
	Blocks        bool // adoption does not say that the dependent blocks the controller's deletion
	Version       bool // adoption names the controller by another apiVersion
	OwnEntryOnly  bool // release removes every owner
	ReleaseFields bool // release takes the dependent's finalizers off, too
	Loser         bool // an adoption that was refused counts as one that succeeded

	Refused  bool // a release that was refused, whatever for, counts as done
	Gone     bool // release of an object that is gone is an error
	Replaced bool // release of an object whose uid has changed is an error
}
