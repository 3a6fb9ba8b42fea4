package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Strength is the strength of a violation.
type Strength uint8

const (
	// Informed: the actor had seen enough to know that its write was a violation.
	Informed Strength = iota
	// Committed: the write was right for the state that the actor had seen, but wrong for the stored state.
	Committed
)

func committedIf(excused bool) Strength {
	if excused {
		return Committed
	}
	return Informed
}

func informedIf(knew bool) Strength { return committedIf(!knew) }

// adoptionStrength returns Informed if a delivery or a live read had shown the adopter that its own object was
// terminating. It also returns Informed for an adopter of profile Upstream without the live read that ADOPT-4 requires.
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

// inherits returns the strength of a write that takes an object from another owner. It is Committed if a server-side
// apply replaces the reference to an owner by a reference to the recreated owner. The actor cannot expect that the
// server accepts this: any other apply that adds a second controller is refused.
func (w *Write) inherits(r *sim.Record) Strength {
	if r.Guards.Applies && w.NewOwner != nil && w.Owner.Kind == w.NewOwner.Kind && w.Owner.Name == w.NewOwner.Name {
		return Committed
	}
	return Informed
}

// newsTo returns Committed if the object that the actor had read has no reference to the owner, otherwise Informed.
func newsTo(w *Write, owner types.UID) Strength {
	if w.Saw != nil && meta.RefTo(w.Saw, owner) == nil {
		return Committed
	}
	return Informed
}

// collects returns the strength of the violation if the garbage collector deletes an object that an owner keeps. It is
// Committed if the collector had read the object without the reference, or had read that the owner waits for its
// dependents. A second delete of the owner, with another policy, may have ended the waiting.
func collects(w *Write, ref *metav1.OwnerReference) Strength {
	if w.process.readWaiting(ref, w.Before.GetNamespace()) {
		return Committed
	}
	return newsTo(w, ref.UID)
}
