// Checks of ADOPT-1 to ADOPT-8, except ADOPT-6.

package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func adoptMatching(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || !w.Dependent || !w.Claims || w.Actor.Selector == nil {
		return
	}
	j.Exercise()
	seen, value := w.Saw, r.Saw
	if seen == nil {
		seen, value = w.Before, r.Before
	}
	if r.SawFor != nil && !j.state.Selects(w.Actor, r.SawFor, seen) {
		j.Report(Informed, refName(w.NewOwner)+" does not select it")
		return
	}
	if r.SawFor != nil && !w.Actor.willing(r.SawFor, r.Object.Kind, value) {
		j.Report(Informed, refName(w.NewOwner)+" selects it, and by its name it is none of it")
		return
	}
	if o := j.state.Object(w.NewOwner.UID); o != nil && !j.state.Selects(w.Actor, o.Value, w.Before) {
		j.Report(Committed, refName(w.NewOwner)+" does not select it any more")
	}
}

func adoptAll(j *Judge, r *sim.Record) {
	c := j.survey()
	for i := range c.owners {
		if a := &c.owners[i]; a.sub.Selector != nil && j.settled(a) {
			j.Exercise()
		}
	}
	for _, o := range c.orphans {
		for i := range c.owners {
			a := &c.owners[i]
			if !j.settled(a) {
				continue
			}
			if j.state.wouldOwn(a, o) && a.sub.willing(a.Value, o.Ref.Kind, o.Value) {
				j.Report(Informed, o.Ref.String()+" stays an orphan though "+a.Ref.String()+" selects it")
				break
			}
		}
	}
}

// statusOnly checks ADOPT-3. For a terminating object, a controller may write its status and remove finalizers. It may
// delete the object's dependents while its own finalizer is on the object. It may always remove its own finalizers from
// dependents, because otherwise the dependents would never be deleted.
func statusOnly(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor != nil && w.Actor.Opaque {
		j.forTheGoing(r)
		return
	}
	if w.Actor == nil || r.For.UID == "" || w.read {
		return
	}
	if !w.Dependent {
		if w.Before == nil || string(w.Before.GetUID()) != r.For.UID || r.Subresource == "status" ||
			r.Verb == "delete" || // another deletion changes only what happens to the dependents
			w.After == nil || len(w.After.GetFinalizers()) < len(w.Before.GetFinalizers()) {
			return
		}
	}
	j.Exercise()
	if w.Dependent && (w.ofFor() && (j.cleansUp(r) || w.tidies(r)) || (w.Mine || w.Owner == nil) && w.unhands(r)) {
		return
	}
	k := w.process.work(r)
	if meta.Deleting(meta.Of(r.SawFor)) {
		text := what(r) + " for " + r.For.String() + ", which it has seen terminating"
		if w.Dependent && !w.Mine && w.Owner != nil {
			text += "; " + ownedBy(w.Owner)
		}
		j.Report(Informed, text)
		return
	}
	if k != nil && k.read && k.refuses {
		if !w.Adopts { // ADOPT-4 reports adoptions
			j.Report(Informed, what(r)+" for "+r.For.String()+", which a live read showed gone or going")
		}
		return
	}
	if o := j.state.Object(uidOf(r.For)); o != nil && meta.Deleting(o.Meta) && !meta.Deleting(w.Before) {
		j.Report(Committed, what(r)+" for "+r.For.String()+", which is being deleted")
	}
}

// tidies reports whether a write updates a dependent without changing its owners or finalizers. The EndpointSlice
// controller makes such writes for terminating objects. Controllers of profile Upstream may not make them.
func (w *Write) tidies(r *sim.Record) bool {
	return w.Actor.Profile < Upstream && !w.Deletes && w.Before != nil && w.After != nil && !w.Adopts &&
		slices.Equal(w.Before.GetFinalizers(), w.After.GetFinalizers()) &&
		equality.Semantic.DeepEqual(w.Before.GetOwnerReferences(), w.After.GetOwnerReferences())
}

// ofFor reports whether the object belongs to w.For, or belonged to it in the version that the process saw, and now has
// no owner: the garbage collector may have orphaned it.
func (w *Write) ofFor() bool { return w.Mine || w.SawMine && w.Owner == nil }

// cleansUp reports whether a write to a dependent is part of its owner's finalization. The owner must have a finalizer
// that the actor may remove. The write deletes or releases the dependent, or removes a finalizer from a terminating
// dependent.
func (j *Judge) cleansUp(r *sim.Record) bool {
	w := &j.write
	if !w.Deletes && !(meta.Deleting(w.Before) &&
		(w.After == nil || len(w.After.GetFinalizers()) < len(w.Before.GetFinalizers()))) && !w.leavesBehind(r) {
		return false
	}
	if j.state.held(w.Actor, meta.Of(r.SawFor)) {
		return true
	}
	o := j.state.Object(uidOf(r.For))
	return o != nil && j.state.held(w.Actor, o.Meta)
}

// leavesBehind reports whether a write only removes a dependent's reference to w.For; false for profile Upstream.
func (w *Write) leavesBehind(r *sim.Record) bool {
	return w.Actor.Profile < Upstream && w.Drops && w.onlyRefs(r) && meta.SameRefsBut(w.Before, w.After, w.For.UID)
}

func recheck(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || !w.Dependent || !w.Adopts {
		return
	}
	j.Exercise()
	k := w.process.work(r)
	if w.Actor.Opaque {
		k = nil // the program may have read the owner live, at an unknown time
	}
	switch {
	case k != nil && !k.read:
		j.Report(Informed, "adopted without a live read of "+r.For.String())
	case k != nil && k.refuses:
		j.Report(Informed, "adopted though a live read showed "+r.For.String()+" gone or going")
	default:
		if o := j.state.Object(w.NewOwner.UID); o == nil || meta.Deleting(o.Meta) {
			j.Report(Committed, "adopted by "+w.For.String()+", gone or going since the live read")
		}
	}
}

func sparesDying(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || !w.Dependent || !w.Claims {
		return
	}
	j.Exercise()
	if !meta.Deleting(w.Before) {
		return
	}
	if w.Saw == nil || meta.Deleting(w.Saw) { // an apply by name does not depend on what was read
		j.Report(committedIf(r.Guards.Applies && w.Actor.Selector == nil), "adopted while it is being deleted")
		return
	}
	j.Report(Committed, "adopted after its deletion had begun")
}

func orphansStayOrphans(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Before == nil || len(j.state.orphanings.byObject[w.Before.GetUID()]) == 0 || w.Actor == nil && !w.GC {
		return
	}
	j.Exercise()
	if w.Actor == nil || !w.Claims {
		return
	}
	if q := j.state.orphanings.find(w.Before.GetUID(), w.NewOwner.UID); q != nil && q.lost {
		j.Report(adoptionStrength(r, w), "adopted again by "+refName(w.NewOwner)+", whose deletion had orphaned it")
	}
}

func successor(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor != nil && w.Actor.Opaque {
		j.ofTheGone(r)
		return
	}
	if w.Actor == nil || w.Before == nil || r.For.UID == "" || w.read {
		return
	}
	j.Exercise()
	if w.unhandsTerminating(r) {
		return
	}
	if w.Dependent && w.Owner != nil && !w.Mine && w.Owner.Kind == r.For.Kind && w.Owner.Name == r.For.Name {
		s := w.inherits(r)
		if w.SawMine {
			s = Committed
		}
		j.Report(s, "treated as its own by a recreated owner "+refName(w.Owner))
		return
	}
	if r.Object.Kind != w.Actor.For.Kind || r.Object.Name != r.For.Name || r.Object.Namespace != r.For.Namespace ||
		string(w.Before.GetUID()) == r.For.UID {
		return
	}
	// A patch of a status does not need the recreated object, unlike an update. The next reconcile reports the status again.
	reports := r.Subresource == "status" && r.Verb == "patch"
	s := informedIf(w.Saw != nil && w.Saw.GetUID() == w.Before.GetUID() && !reports)
	j.Report(s, what(r)+" meant for an earlier "+r.For.String())
}
