// The check of LAW-2.

package law

import (
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// dontInterfere is LAW-2.
func dontInterfere(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.Before == nil || !j.concerns(r) {
		return
	}
	j.Ask()
	if w.tended(r) || w.Mine || w.Owner != nil && j.inFamily(r, w.Owner) {
		j.cutsOthers(r)
		return
	}
	if w.made() || w.harmless(r) || j.colleaguesOwn(r) || w.colleaguesFor(r) {
		return
	}
	s := Informed
	switch {
	case w.Owner != nil && w.inherits(r) == Committed:
		s = Committed
	case w.Saw == nil:
		if w.Unread {
			s = Committed
		}
	case w.SawMine,
		w.SawOwner == nil && w.Adopts && w.adds(r, w.For.UID),
		w.SawOwner == nil && w.Owner != nil && !w.Dependent && j.state.subjectFor(r.Object.Kind) == nil:
		s = Committed
	}
	j.Report(s, j.interference(r))
}

// made reports whether a controller that polls wrote what has no ControllerRef and names
// its object as the one that it was created for: that is the link where there is no
// other (KIND-CRON-2).
func (w *Write) made() bool {
	return w.Actor.Polls && w.Dependent && w.Owner == nil && w.For.UID != "" &&
		strings.Contains(w.Before.GetAnnotations()[createdBy], strconv.Quote(w.For.UID))
}

// colleaguesOwn reports whether an object belongs to what another controller of the same
// program may work for, and is of the program's own making.
func (j *Judge) colleaguesOwn(r *sim.Record) bool {
	o := j.state.Object(j.write.Before.GetUID())
	return o != nil && o.maker != nil && o.maker.Controller == j.write.Actor.Controller &&
		j.colleagues(r, j.write.Owner)
}

// colleaguesFor reports whether another controller of the same program works on the object itself. That one writes to
// it whoever owns it, but leaves it to its owner. It may delete what nobody controls.
func (w *Write) colleaguesFor(r *sim.Record) bool {
	return among(w.Actor.SharedKinds, r.Object.Kind) &&
		(w.Owner == nil || w.After != nil && !w.Deletes && meta.SameRefsBut(w.Before, w.After, ""))
}

// tended reports whether a write is one that the actor makes by its office, whoever
// owns the object. To remove an object is none, where nothing says which it has to
// spare.
func (w *Write) tended(r *sim.Record) bool {
	return !w.Dependent && among(w.Actor.MayEdit, r.Object.Kind) && !(w.Deletes && w.Actor.written() == nil)
}

// concerns reports whether an object that was written is somebody's, so that
// LAW-2 asks whose: it is of a kind that the actor makes and claims, or another
// controller's dependent, or what another controller syncs, as a rival of the
// actor's own kind is. What nobody controls and nobody syncs, a user's ConfigMap,
// is nobody's. The actor's own object it may write, and its namesake is
// ADOPT-8's.
func (j *Judge) concerns(r *sim.Record) bool {
	w := &j.write
	if w.Actor.Outside {
		return w.Owner != nil // what it makes besides, nobody says
	}
	if w.Dependent {
		return true
	}
	if r.Object.Kind == w.Actor.For.Kind &&
		(r.For.Name == "" || r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace) {
		return false
	}
	return w.Owner != nil || j.state.subjectFor(r.Object.Kind) != nil
}

// cutsOthers reports a write to the actor's own dependent, or to what it tends, that
// takes off the reference of another owner who is there: what a list of owners that is written
// anew, or from a copy that is out of date, forgets. Its own sort of owners an
// actor may arrange as it likes, and so what it makes itself, and references that
// it put there. Who hands objects over by his office, as one that claims what a pool has
// ready, says of which by an invariant of writes. A deletion and a release are judged by other laws.
func (j *Judge) cutsOthers(r *sim.Record) {
	w := &j.write
	if w.After == nil || w.Deletes || w.Drops || w.tended(r) && j.handsOver(r) {
		return
	}
	for _, ref := range w.Before.GetOwnerReferences() {
		if string(ref.UID) == w.For.UID || meta.RefTo(w.After, ref.UID) != nil || ref.Kind == w.Actor.For.Kind ||
			w.process.gave[race{w.Before.GetUID(), ref.UID}] || j.inFamily(r, &ref) {
			continue
		}
		o := j.state.Object(ref.UID)
		if o == nil || meta.Deleting(o.Meta) {
			continue
		}
		s := Informed
		if w.Unread || w.Saw != nil && meta.RefTo(w.Saw, ref.UID) == nil {
			s = Committed
		}
		j.Report(s, "takes off the reference to "+refName(&ref)+", which is there")
		return
	}
}

// handsOver reports whether the actor need not leave what it tends to its owner, as things
// stand.
func (j *Judge) handsOver(r *sim.Record) bool {
	v := j.write.Actor.written()
	return v != nil && j.ask(v, &Facts{Now: sim.Epoch.Add(r.At), Before: objectOf(r.Before), After: objectOf(r.Before),
		All: j.state.values, Get: j.state.get}) == ""
}

// written is the first invariant that is asked of writes; nil for none.
func (s *Actor) written() *Invariant {
	if s.moments&AtWrite != 0 {
		for _, v := range s.Invariants {
			if v.When&AtWrite != 0 {
				return v
			}
		}
	}
	return nil
}

// inFamily reports whether an owner is the object that the actor syncs, or a dependent
// of that: to whom of them something belongs is the actor's to say. A StatefulSet gives
// a claim to the pod that is to take it along. A Deployment has no say in whose the
// pods of its ReplicaSets are: those have a controller that makes and claims pods.
func (j *Judge) inFamily(r *sim.Record, ref *metav1.OwnerReference) bool {
	w := &j.write
	if w.isFor(ref) {
		return true
	}
	if w.For.UID == "" || !w.Actor.manages(ref.Kind) || j.state.manages(ref.Kind, r.Object.Kind) {
		return false
	}
	if w.Before != nil && w.process.gave[race{w.Before.GetUID(), ref.UID}] {
		return true // it belongs there by the actor's own doing, though that may be gone by now
	}
	if o := j.state.Object(ref.UID); o != nil {
		c := meta.ControllerOf(o.Meta)
		return c != nil && string(c.UID) == w.For.UID
	}
	return w.process.owns(ref.UID, uidOf(w.For))
}

// manages reports whether a controller syncs one kind and makes or claims another.
func (s *State) manages(owner, dependent string) bool {
	return slices.ContainsFunc(s.processes, func(p *process) bool {
		return p.Actor.For.Kind == owner && p.Actor.manages(dependent)
	})
}

// interference words what was done to whose object.
func (j *Judge) interference(r *sim.Record) string {
	w := &j.write
	switch {
	case w.Owner == nil && w.Adopts:
		return "adopted by " + w.For.String() + " with more than the reference changed"
	case w.Owner == nil && !w.Dependent:
		return what(r) + " in a sync of " + r.For.String() + ", of an object that is not its own"
	}
	text := ownedBy(w.Owner)
	if o := w.Owner; o != nil && o.Kind == r.For.Kind && o.Name == r.For.Name && string(o.UID) != r.For.UID {
		if r.For.UID == "" {
			return text + ", which the sync did not find"
		}
		return text + ", another of that name than is synced"
	}
	return text
}
