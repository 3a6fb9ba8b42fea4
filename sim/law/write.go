package law

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// Write holds facts about one commit, such as the object's controller before and after. It is computed once for all
// laws, and valid until the next record.
type Write struct {
	For   sim.Ref // the object that the actor was reconciling; derived from references if the record has none
	Actor *Actor  // the writer's actor; nil if there is none, or if it reconciles no kind
	GC    bool    // the writer is the garbage collector

	Before, After, Saw        metav1.Object          // the object before and after the write, and as the actor read it
	Owner, NewOwner, SawOwner *metav1.OwnerReference // the ControllerRefs of Before, After and Saw

	Dependent bool // the actor manages the object's kind; Standalone objects and objects out of reach are excluded
	Mine      bool // Owner names the reconciled object (For)
	SawMine   bool // SawOwner names the reconciled object (For)
	Claims    bool // an existing object gets a ControllerRef to a new owner
	Adopts    bool // an existing object gets a ControllerRef to the reconciled object (For)
	Drops     bool // the ControllerRef to the reconciled object (For) is removed, and the object stays
	Deletes   bool // the object begins to terminate, or is removed at once
	Unread    bool // it is unknown which version the actor had read

	process *process // the writer's process; nil if the writer is no actor
	read    bool     // the UID in For is from a live read, not from the cache
	dropped bool     // the server dropped the controller field from a reference to For
}

// maker returns the writer's actor, or nil. Unlike w.Actor, it is also set if the actor reconciles no kind.
func (w *Write) maker() *Actor {
	if w.process == nil {
		return nil
	}
	return &w.process.Actor
}

// isFor reports whether a ControllerRef names the reconciled object, with the UID that the process saw.
func (w *Write) isFor(ref *metav1.OwnerReference) bool {
	return ref != nil && w.For.UID != "" && string(ref.UID) == w.For.UID
}

// adds reports whether a write changes only references to this owner, the actor's finalizers, and the server's fields.
func (w *Write) adds(r *sim.Record, owner string) bool {
	return w.After != nil && w.onlyRefs(r) && meta.SameRefsBut(w.Before, w.After, owner)
}

// onlyRefs reports whether a write changes only owner references, finalizers that the actor declares, and fields that
// the server sets. The finalizers are allowed because the Job controller adds its finalizer to a pod that it adopts.
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

// takesByName reports whether an actor without a selector adopts an orphan by name and sets the desired state in the
// same write, as CreateOrUpdate does. Such a write combines two allowed writes in one update or apply. It may not
// change other owner references, or finalizers that the actor does not declare. The cache of an actor that applies may
// still show an earlier owner with the name of the reconciled object.
func (w *Write) takesByName(r *sim.Record) bool {
	return w.Actor.Selector == nil &&
		(r.Guards.Applies && (w.SawOwner == nil || w.SawOwner.Kind == w.For.Kind && w.SawOwner.Name == w.For.Name) ||
			r.Guards.ResourceVersion && w.Saw != nil && w.SawOwner == nil) &&
		meta.SameRefsBut(w.Before, w.After, w.For.UID) &&
		meta.SameFinalizersBut(w.Before.GetFinalizers(), w.After.GetFinalizers(), w.Actor.Finalizers)
}

// unhands reports whether a write only removes finalizers of the actor. If no finalizer is left, the write may remove
// the object.
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

// unhandsTerminating reports whether an actor may remove its own finalizers from a terminating object that it does not
// own. An actor below profile Upstream always may. For profile Upstream, the object's owner must be an earlier object
// with the name of the reconciled object.
func (w *Write) unhandsTerminating(r *sim.Record) bool {
	if w.Before == nil || !meta.Deleting(w.Before) || !w.unhands(r) {
		return false
	}
	ref := meta.ControllerOf(w.Before)
	return w.Actor.Profile < Upstream || ref != nil && ref.Kind == w.For.Kind && ref.Name == w.For.Name &&
		ref.UID != uidOf(w.For)
}

// harmless reports whether a write to an object that the actor does not own is allowed. The write may adopt an orphan,
// or remove the actor's own reference. If the object is terminating or has no controller, the write may remove the
// actor's own finalizers.
func (w *Write) harmless(r *sim.Record) bool {
	if w.Owner == nil && w.NewOwner == nil && w.unhands(r) || w.unhandsTerminating(r) {
		return true
	}
	if w.After == nil || w.For.UID == "" {
		return false
	}
	own := uidOf(w.For)
	// an adoption may also set controller in an existing reference to For (API-2)
	if w.Owner == nil && (w.Adopts || w.dropped && meta.RefTo(w.Before, own) == nil) {
		return w.adds(r, w.For.UID) || w.takesByName(r)
	}
	return meta.RefTo(w.Before, own) != nil && meta.RefTo(w.After, own) == nil &&
		meta.SameRefsBut(w.Before, w.After, w.For.UID) && w.onlyRefs(r)
}

// counting returns the [work] of the worker that made a write, or nil if it is unknown what the worker had seen.
func (w *Write) counting(r *sim.Record) *work {
	k := w.process.work(r)
	if k == nil || !k.busy || k.owner == "" || string(k.owner) != r.For.UID || r.SawFor == nil {
		return nil
	}
	return k
}

// letsGo reports whether a write removes a finalizer that the actor declares.
func letsGo(sub *Actor, w *Write) bool {
	return slices.ContainsFunc(sub.Finalizers, func(f string) bool {
		return meta.Finalized(w.Before, f) && !meta.Finalized(w.After, f)
	})
}

func (w *Write) fill(s *State, r *sim.Record, p *process, known Evidence) {
	*w = Write{For: r.For, process: p, Before: meta.Of(r.Before), After: meta.Of(r.After)}
	w.Owner, w.NewOwner = meta.ControllerOf(w.Before), meta.ControllerOf(w.After)
	w.Deletes = w.Before != nil && !meta.Deleting(w.Before) && (w.After == nil || meta.Deleting(w.After))
	w.Claims = w.Before != nil && w.NewOwner != nil && !meta.SameRef(w.Owner, w.NewOwner)
	if w.process == nil {
		return
	}
	if w.process.Actor.Outside {
		known = Commits
	}
	w.GC = w.process.Actor.Controller == collector
	w.Saw = meta.Of(r.Saw)
	if w.Saw == nil && known&Reads == 0 {
		// a request with a resourceVersion shows which version the actor had read
		if w.Unread = !r.Guards.ResourceVersion; !w.Unread {
			w.Saw = w.Before
		}
	}
	if w.process.Actor.For.Kind == "" {
		return
	}
	w.Actor = &w.process.Actor
	w.SawOwner = meta.ControllerOf(w.Saw)
	if w.For.UID == "" && w.process.keyedOtherwise(s, r.For) {
		w.inferFor(r)
	}
	w.readFor(r)
	w.Dependent = w.process.manages(r.Object.Kind) && !w.outOfReach(s, r) && !w.Actor.standsAlone(r.Object)
	w.Mine = w.isFor(w.Owner)
	w.SawMine = w.isFor(w.SawOwner)
	w.Adopts = w.Claims && w.isFor(w.NewOwner)
	w.dropped = s.dropping && w.NewOwner == nil && w.For.UID != "" && meta.RefTo(w.After, uidOf(w.For)) != nil
	w.Drops = w.Mine && w.After != nil && !w.isFor(w.NewOwner)
}

// keyedOtherwise reports whether the record's For is not the reconciled object. This happens if the controller has
// several queues. Then For is empty, names an object that was never stored or received, or is a key of another watched
// kind.
func (p *process) keyedOtherwise(s *State, f sim.Ref) bool {
	if f.Name == "" || !p.met[view.KeyOf(f)] && s.Named(p.Actor.For.Kind, f.Namespace, f.Name) == nil {
		return true
	}
	for _, c := range p.caches {
		if c.Kind != p.Actor.For.Kind && c.Get(f.Namespace, f.Name) != nil {
			return p.Cache(p.Actor.For.Kind).Get(f.Namespace, f.Name) == nil
		}
	}
	return false
}

// readFor sets the UID of For to the UID that a live read showed, if this UID belongs to the written object or its
// owner. The actor's cache may still contain an earlier object with the same name.
func (w *Write) readFor(r *sim.Record) {
	k := w.process.work(r)
	if k == nil || k.live == "" || string(k.live) == w.For.UID {
		return
	}
	own := r.Object.Kind == w.Actor.For.Kind && w.Before != nil && w.Before.GetUID() == k.live
	if own || w.Owner != nil && w.Owner.UID == k.live ||
		w.Owner == nil && w.NewOwner != nil && w.NewOwner.UID == k.live {
		w.For.UID, w.read = string(k.live), true
	}
}

// outOfReach reports whether the actor created the object in a namespace where a reference to its owner is invalid.
func (w *Write) outOfReach(s *State, r *sim.Record) bool {
	if w.For.UID == "" || w.For.Namespace == "" || w.For.Namespace == r.Object.Namespace || w.isFor(w.Owner) ||
		w.isFor(w.NewOwner) {
		return false
	}
	if w.Before == nil {
		return true
	}
	o := s.Object(w.Before.GetUID())
	return o != nil && o.maker == &w.process.Actor
}

// inferFor sets For to the owner in the ControllerRef of the written object, if the owner has the reconciled kind. The
// reference may be from before the write, from after it, or from what the actor had read. If the write moves the
// reference to a recreated owner of the same name, For is the new owner. An owner with the key's namespace and name is
// ignored.
func (w *Write) inferFor(r *sim.Record) {
	ref := w.Owner
	if ref == nil {
		ref = w.NewOwner
	}
	if to := w.NewOwner; ref != nil && to != nil && to.Kind == ref.Kind && to.Name == ref.Name {
		ref = to
	}
	saw := w.SawOwner
	if saw != nil && saw.Kind == w.Actor.For.Kind && !w.Claims && (ref == nil || ref.Kind != saw.Kind) {
		ref = saw
	}
	if ref == nil || ref.Kind != w.Actor.For.Kind || ref.Name == r.For.Name && r.Object.Namespace == r.For.Namespace {
		return
	}
	namespace := r.Object.Namespace
	if w.process.Cache(ref.Kind).Get("", ref.Name) != nil {
		namespace = "" // the owner is cluster-scoped
	}
	w.For = sim.Ref{Kind: ref.Kind, Namespace: namespace, Name: ref.Name, UID: string(ref.UID)}
}
