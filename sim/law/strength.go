package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Strength of a breach of a safety law.
type Strength uint8

const (
	// Informed: the actor broke the law against what it had itself been shown.
	Informed Strength = iota
	// Committed: the write was lawful for what the actor knew, but not for the
	// state it landed on.
	Committed
)

// adoptionStrength says whether an adopter could have known that its own
// object was going: it had been shown so, or had not looked though it is held to
// look (ADOPT-4).
func adoptionStrength(r *sim.Record, w *Write) Strength {
	if meta.Deleting(meta.Of(r.SawFor)) {
		return Informed
	}
	k := w.process.work(r)
	if k == nil {
		return Committed
	}
	if !k.read && w.Actor.Profile >= Upstream || k.refuses {
		return Informed
	}
	return Committed
}

// inherits is the strength of a write that takes an object from another owner:
// Committed for an apply that goes from a namesake to a namesake. The server
// refuses an apply a second controller, but takes off what the same manager had
// applied for the first; who applies cannot tell, and had not been shown.
func (w *Write) inherits(r *sim.Record) Strength {
	if r.Guards.Applies && w.NewOwner != nil && w.Owner.Kind == w.NewOwner.Kind && w.Owner.Name == w.NewOwner.Name {
		return Committed
	}
	return Informed
}

// newsTo is Committed where the actor had last read the object without a
// reference to that owner.
func newsTo(w *Write, owner types.UID) Strength {
	if w.Saw != nil && meta.RefTo(w.Saw, owner) == nil {
		return Committed
	}
	return Informed
}

// collects is the strength of a collector's deletion of what an owner keeps: Committed where it had last read the
// object without that reference, or the owner as one that waits for its dependents. Whoever deletes an owner once
// more, by another policy, makes one of it that does not.
func collects(w *Write, ref *metav1.OwnerReference) Strength {
	if w.process.readWaiting(ref, w.Before.GetNamespace()) {
		return Committed
	}
	return newsTo(w, ref.UID)
}
