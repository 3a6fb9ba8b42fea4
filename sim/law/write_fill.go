// How a Write is computed from its record and the stored state.

package law

import (
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

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
		// It had read a version that the request carries.
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

// keyedOtherwise reports whether the synced object is not known: the record does not name one, no such object
// exists or was shown, or the key is of another watched kind. A controller may have several queues.
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

// readFor sets For to the incarnation that the actor has read live, if the written object is that one, or belongs
// to it before or after the write. The actor's cache may still show an earlier incarnation.
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

// outOfReach reports whether the actor itself created an object where no owner reference can reach its owner.
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

// inferFor sets For from the ControllerRef of the written object, if it is of the synced kind: the reference before
// the write, after it, or as the actor read it. If the write changes the reference to the recreated owner of the
// same name, For is the new one. A recreated object with the name of the key is not meant.
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
