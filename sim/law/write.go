package law

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// Write is what one commit does, in the words of the laws: the record of the commit says
// which object became what, and this whose it was, whose it is, and what that amounts to
// for its actor. It is worked out once for all laws, and good until the next record.
type Write struct {
	For   sim.Ref // what the actor was syncing; where nobody says, what its references say
	Actor *Actor  // who the actor is, where it has a collection; nil for everybody else
	GC    bool    // the actor is the garbage collector

	Before, After, Saw        metav1.Object          // the object, and as the actor had read it; nil for none
	Owner, NewOwner, SawOwner *metav1.OwnerReference // their ControllerRefs

	Dependent bool // the object is of a kind the subject manages
	Mine      bool // Owner is For
	SawMine   bool // and was, when the actor last read the object
	Claims    bool // an object that was there gets another ControllerRef
	Adopts    bool // and it is For
	Drops     bool // the actor's own ControllerRef goes, the object stays
	Deletes   bool // a deletion is asked for, or done
	Unread    bool // nobody knows what the actor had read

	process *process // of the actor; nil for one that is no subject
	read    bool     // For is the incarnation that the actor has read live, not the one in its cache
	dropped bool     // the server dropped the controller field from a reference to For
}

// maker is who makes the object, if the write does; nil for somebody who is no
// subject.
func (w *Write) maker() *Actor {
	if w.process == nil {
		return nil
	}
	return &w.process.Actor
}

// isFor reports whether a ControllerRef names the object being synced, as the
// process saw it.
func (w *Write) isFor(ref *metav1.OwnerReference) bool {
	return ref != nil && w.For.UID != "" && string(ref.UID) == w.For.UID
}

// adds reports whether a write does nothing but add a reference to an owner.
func (w *Write) adds(r *sim.Record, owner string) bool {
	return w.After != nil && w.onlyRefs(r) && meta.SameRefsBut(w.Before, w.After, owner)
}

// onlyRefs reports whether a write left everything alone but owner references,
// finalizers that the actor declares as its own (Job puts one on what it adopts)
// and what the server itself moves.
func (w *Write) onlyRefs(r *sim.Record) bool {
	a, b := w.Before, w.After
	return a != nil && b != nil &&
		a.GetName() == b.GetName() && a.GetUID() == b.GetUID() &&
		a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp()) &&
		maps.Equal(a.GetLabels(), b.GetLabels()) &&
		maps.Equal(a.GetAnnotations(), b.GetAnnotations()) &&
		meta.SameFinalizersBut(a.GetFinalizers(), b.GetFinalizers(), w.Actor.Finalizers) &&
		meta.SameBody(r.Before, r.After)
}

// takesByName reports whether a write by an actor that goes by names, not by a
// selector, makes an orphan by the name of what it would create its own, and
// brings it to what it wants in the same write, as CreateOrUpdate does. An update
// of what it has read, or an apply, does at once what two lawful writes would do.
// What others have put into the metadata stays.
func (w *Write) takesByName(r *sim.Record) bool {
	return w.Actor.Selector == nil && w.SawOwner == nil &&
		(r.Guards.Applies || r.Guards.ResourceVersion && w.Saw != nil) &&
		meta.SameRefsBut(w.Before, w.After, w.For.UID) &&
		meta.SameFinalizersBut(w.Before.GetFinalizers(), w.After.GetFinalizers(), w.Actor.Finalizers)
}

// unhands reports whether a write takes the actor's own finalizers off, and does
// nothing else. An object that was held by nothing else is gone then.
func (w *Write) unhands(r *sim.Record) bool {
	switch {
	case w.Before == nil:
		return false
	case w.After == nil:
		return r.Verb != "delete" && r.Verb != "deletecollection" && meta.Deleting(w.Before) &&
			meta.SameFinalizersBut(w.Before.GetFinalizers(), nil, w.Actor.Finalizers)
	}
	return len(w.After.GetFinalizers()) < len(w.Before.GetFinalizers()) && w.onlyRefs(r) &&
		meta.SameRefsBut(w.Before, w.After, "")
}

// unhandsTerminating is unhands of an object that is being deleted, whoever owns it: an operator put its finalizer there
// itself. Upstream's own controllers leave alone what another controls, unless that is gone and has a namesake.
func (w *Write) unhandsTerminating(r *sim.Record) bool {
	if w.Before == nil || !meta.Deleting(w.Before) || !w.unhands(r) {
		return false
	}
	ref := meta.ControllerOf(w.Before)
	return w.Actor.Profile < Upstream || ref != nil && ref.Kind == w.For.Kind && ref.Name == w.For.Name &&
		ref.UID != uidOf(w.For)
}

// harmless reports whether a write to an object that is not the actor's is one
// of the three it may make: adoption of an orphan, taking back a reference of its
// own, and its own finalizers off what nobody controls or what is being deleted.
func (w *Write) harmless(r *sim.Record) bool {
	if w.Owner == nil && w.NewOwner == nil && w.unhands(r) || w.unhandsTerminating(r) {
		return true
	}
	if w.After == nil || w.For.UID == "" {
		return false
	}
	own := uidOf(w.For)
	// An adopter may have an entry already that did not control: it is made whole (API-2).
	if w.Owner == nil && (w.Adopts || w.dropped && meta.RefTo(w.Before, own) == nil) {
		return w.adds(r, w.For.UID) || w.takesByName(r)
	}
	return meta.RefTo(w.Before, own) != nil && meta.RefTo(w.After, own) == nil &&
		meta.SameRefsBut(w.Before, w.After, w.For.UID) && w.onlyRefs(r)
}

// counting returns the worker that a write for an owner is by, nil when what it
// can have gone by is not known, as of a life that has ended.
func (w *Write) counting(r *sim.Record) *work {
	k := w.process.work(r)
	if k == nil || !k.busy || k.owner == "" || string(k.owner) != r.For.UID || r.SawFor == nil {
		return nil
	}
	return k
}

// letsGo reports whether a write takes a finalizer off that the subject declares.
func letsGo(sub *Actor, w *Write) bool {
	return slices.ContainsFunc(sub.Finalizers, func(f string) bool {
		return meta.Finalized(w.Before, f) && !meta.Finalized(w.After, f)
	})
}
