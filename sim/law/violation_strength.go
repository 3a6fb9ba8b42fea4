package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Strength of a violation of a safety law.
type Strength uint8

const (
	// Informed: what the actor had been shown already made the write a violation.
	Informed Strength = iota
	// Committed: the write was right by the actor's knowledge, but wrong for the stored state.
	Committed
)

func committedIf(excused bool) Strength {
	if excused {
		return Committed
	}
	return Informed
}

func informedIf(knew bool) Strength { return committedIf(!knew) }

// adoptionStrength is Informed if an adopter could have known that its own object was terminating: the process was
// shown so, or did not read live although ADOPT-4 applies to it.
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

// inherits returns the strength of a write that takes an object from another owner. It is Committed for a server-side
// apply for a recreated owner of the same name. The server refuses an apply that adds a second controller, but removes
// the reference that the same manager applied before. The applier cannot know this.
func (w *Write) inherits(r *sim.Record) Strength {
	if r.Guards.Applies && w.NewOwner != nil && w.Owner.Kind == w.NewOwner.Kind && w.Owner.Name == w.NewOwner.Name {
		return Committed
	}
	return Informed
}

// newsTo is Committed if the actor last read the object without a reference to that owner.
func newsTo(w *Write, owner types.UID) Strength {
	if w.Saw != nil && meta.RefTo(w.Saw, owner) == nil {
		return Committed
	}
	return Informed
}

// collects returns the strength of the garbage collector's deletion of an object that an owner keeps. It is Committed
// if the garbage collector last read the object without that reference, or the owner as waiting for its dependents. A
// second delete with another policy ends that waiting.
func collects(w *Write, ref *metav1.OwnerReference) Strength {
	if w.process.readWaiting(ref, w.Before.GetNamespace()) {
		return Committed
	}
	return newsTo(w, ref.UID)
}
