package ref

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Decision is what a controller does with one object it found.
type Decision uint8

// The decisions.
const (
	Ignore  Decision = iota // not ours, or nothing may be done now
	Keep                    // ours already
	Adopt                   // an orphan that we should own
	Release                 // ours, but no longer selected
)

var decisionNames = [...]string{"ignore", "keep", "adopt", "release"}

// String names the decision.
func (d Decision) String() string { return decisionNames[d] }

// Decide says what a controller may do with an object, from the cached copies
// of both. matches says whether the controller's selector, and whatever else
// makes a member, selects the object.
//
// Ownership is equality of uids, and nothing else (proposal, "Behavior"): an
// object with another's ControllerRef is none of our business (LAW-2), and
// neither is one that refers to a namesake of ours (ADOPT-8).
func Decide(owner, obj metav1.Object, matches bool, without *Without) Decision {
	ref := metav1.GetControllerOfNoCopy(obj)
	if ref == nil {
		return decideOrphan(owner, obj, matches, without)
	}
	if ref.UID != owner.GetUID() && !(without.Foreign && matches) {
		return Ignore // LAW-1b, LAW-2
	}
	if matches && !without.Match || without.Mismatch {
		return Keep // nothing is written, so a deleting controller may, too
	}
	if owner.GetDeletionTimestamp() != nil && !without.ReleaseDeletion {
		return Ignore // ADOPT-3: neither released nor counted
	}
	return Release // ORPHAN-1
}

func decideOrphan(owner, obj metav1.Object, matches bool, without *Without) Decision {
	switch {
	case owner.GetDeletionTimestamp() != nil && !without.Deletion:
		return Ignore // ADOPT-3, ADOPT-7
	case !matches && !without.Selector:
		return Ignore // ADOPT-1
	case obj.GetDeletionTimestamp() != nil && !without.ObjectDeletion:
		return Ignore // ADOPT-5
	case owner.GetNamespace() != "" && owner.GetNamespace() != obj.GetNamespace() && !without.Namespace:
		return Ignore // ADOPT-1; a cluster-scoped owner may own in any namespace
	}
	return Adopt // LAW-1b, ADOPT-2
}
