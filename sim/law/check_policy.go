// Checks of the GC laws on the deletion of an owner: foreground (GC-2) and orphaning (GC-3, GC-4).

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// foregroundWaits checks GC-2.
func foregroundWaits(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckWaiting()
		return
	}
	w := &j.write
	if !w.GC || !meta.Finalized(w.Before, metav1.FinalizerDeleteDependents) || meta.Foreground(w.After) {
		return
	}
	if !meta.Deleting(w.Before) {
		overruledForeground(j, w)
		return
	}
	j.Ask()
	owner := w.Before.GetUID()
	s, left := Committed, (*Object)(nil)
	for _, o := range j.state.Dependents(owner) {
		if !meta.Blocks(meta.RefTo(o.Meta, owner)) {
			continue
		}
		if left == nil {
			left = o
		}
		if meta.Blocks(w.process.knewTied(r, o, owner)) {
			s, left = Informed, o
			break
		}
	}
	if left != nil {
		j.Report(s, "let go while "+left.Ref.String()+" blocks it")
	}
}

// overruledForeground reports a deletion that removed the foreground finalizer from an object with dependents that
// block it (RULES K101). The orphan finalizer has precedence.
func overruledForeground(j *Judge, w *Write) {
	if !w.Deletes || meta.Orphaning(w.After) {
		return
	}
	left := j.blocker(w.Before.GetUID())
	if left == nil {
		return
	}
	j.Ask()
	s := Informed
	if w.Saw != nil && !meta.Finalized(w.Saw, metav1.FinalizerDeleteDependents) {
		s = Committed
	}
	j.Report(s, "deleted without its foreground finalizer, though "+left.Ref.String()+" blocks it")
}

// stuckWaiting reports owners that wait although nothing blocks them.
func (j *Judge) stuckWaiting() {
	if !j.collecting() {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if !meta.Foreground(o.Meta) {
				continue
			}
			j.Ask()
			if j.blocker(o.Meta.GetUID()) == nil {
				j.Report(Informed, o.Ref.String()+" waits although nothing blocks it")
			}
		}
	}
}

// blocker returns a dependent that blocks the deletion of its owner, or nil.
func (j *Judge) blocker(owner types.UID) *Object {
	for _, d := range j.state.Dependents(owner) {
		if meta.Blocks(meta.RefTo(d.Meta, owner)) {
			return d
		}
	}
	return nil
}

// orphanFirst checks GC-3.
func orphanFirst(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckOrphaning()
		return
	}
	w := &j.write
	if !w.GC || !meta.Orphaning(w.Before) || meta.Orphaning(w.After) {
		return
	}
	j.Ask()
	owner := w.Before.GetUID()
	left := j.state.Dependents(owner)
	if len(left) > 0 && w.process.tookForAnother(r, owner) {
		j.Report(Informed, "let go in the place of an earlier "+r.Object.String()+", while "+left[0].Ref.String()+
			" refers to it")
		return
	}
	for _, o := range left {
		if o.Meta.GetUID() == owner || !j.served(o) {
			continue // it goes too, or it is out of reach
		}
		if q := j.state.orphanings.find(o.Meta.GetUID(), owner); q != nil && q.again {
			continue // it had been orphaned; ADOPT-7 reports the adoption
		}
		if w.process.knewTied(r, o, owner) != nil {
			j.Report(Informed, "let go while "+o.Ref.String()+" refers to it")
			return
		}
	}
	if len(left) > 0 {
		j.Report(Committed, "let go while "+left[0].Ref.String()+", not seen yet, refers to it")
	}
}

func (j *Judge) stuckOrphaning() {
	if !j.collecting() {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if meta.Orphaning(o.Meta) {
				j.Ask()
				j.Report(Informed, o.Ref.String()+" still waits for its dependents to be orphaned")
			}
		}
	}
}

// orphansSurvive checks GC-4.
func orphansSurvive(j *Judge, r *sim.Record) {
	w := &j.write
	if meta.Orphaning(w.After) && !meta.Orphaning(w.Before) && len(j.state.Dependents(w.After.GetUID())) > 0 {
		j.actor = j.state.collecting()
		j.Ask() // from here on they must not be deleted because of it
		j.actor = w.process
	}
	if !w.Deletes || w.process == nil {
		return
	}
	if w.GC && meta.Finalized(w.Before, metav1.FinalizerOrphanDependents) &&
		!meta.Finalized(w.After, metav1.FinalizerOrphanDependents) {
		overruled(j, w)
	}
	if len(j.state.orphanings.byObject) == 0 {
		return
	}
	for _, q := range j.state.orphanings.byObject[w.Before.GetUID()] {
		ref := meta.RefTo(w.Before, q.owner)
		switch {
		case w.GC && r.Verb == "delete" && ref != nil:
			s := q.strength
			if k := w.process.work(r); k != nil && k.begun > 0 && k.begun < q.record {
				s = Committed // the deletion it was working on was another one
			}
			j.Report(s, "deleted because of "+refName(ref)+", whose deletion was to orphan it")
			return
		case w.Actor != nil && q.owner == uidOf(r.For) && w.Mine && j.cleansUp(r):
			return // what its finalizer holds the owner for is its own affair
		case w.Actor != nil && q.owner == uidOf(r.For):
			s := Committed
			if meta.Deleting(meta.Of(r.SawFor)) {
				s = Informed
			}
			j.Report(s, "deleted for "+r.For.String()+", whose deletion was to orphan it")
			return
		}
	}
}

// overruled reports a deletion that removed the orphan finalizer from an object with dependents, which must then
// stay (RULES K101). An object that goes because an owner waits for it goes as that owner does
// (garbagecollector.go, attemptToDeleteItem).
func overruled(j *Judge, w *Write) {
	left := j.state.Dependents(w.Before.GetUID())
	if len(left) == 0 || j.state.refStatesOf(w.Before).waiting > 0 {
		return
	}
	j.Ask()
	s := Informed
	if w.Saw != nil && !meta.Finalized(w.Saw, metav1.FinalizerOrphanDependents) {
		s = Committed
	}
	j.Report(s, "deleted without its orphan finalizer, which keeps "+left[0].Ref.String())
}
