// The checks of the GC laws on how an owner is deleted: in the foreground (GC-2), or so
// that its dependents are orphaned (GC-3, GC-4).

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// foregroundWaits is GC-2.
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

// overruledForeground reports a deletion that took the foreground finalizer off an object
// with dependents that block it, which that finalizer says are to go before it (RULES
// K101). That they are to be orphaned says another finalizer, which has precedence.
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

// blocker is a dependent that blocks the deletion of its owner, nil where there is none.
func (j *Judge) blocker(owner types.UID) *Object {
	for _, d := range j.state.Dependents(owner) {
		if meta.Blocks(meta.RefTo(d.Meta, owner)) {
			return d
		}
	}
	return nil
}

// orphanFirst is GC-3.
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
			continue // it goes with it, or nobody can reach it
		}
		if q := j.state.promises.find(o.Meta.GetUID(), owner); q != nil && q.again {
			continue // it had been orphaned: who adopted it again is to blame
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

// orphansSurvive is GC-4.
func orphansSurvive(j *Judge, r *sim.Record) {
	w := &j.write
	if meta.Orphaning(w.After) && !meta.Orphaning(w.Before) && len(j.state.Dependents(w.After.GetUID())) > 0 {
		j.actor = j.state.collecting()
		j.Ask() // from here on they are not to be deleted because of it
		j.actor = w.process
	}
	if !w.Deletes || w.process == nil {
		return
	}
	if w.GC && meta.Finalized(w.Before, metav1.FinalizerOrphanDependents) &&
		!meta.Finalized(w.After, metav1.FinalizerOrphanDependents) {
		overruled(j, w)
	}
	if len(j.state.promises.byObject) == 0 {
		return
	}
	for _, q := range j.state.promises.byObject[w.Before.GetUID()] {
		ref := meta.RefTo(w.Before, q.owner)
		switch {
		case w.GC && r.Verb == "delete" && ref != nil:
			s := q.strength
			if k := w.process.work(r); k != nil && k.begun > 0 && k.begun < q.made {
				s = Committed // the deletion it was working on was another then
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

// overruled reports a deletion that took the orphan finalizer off an object with
// dependents, which that finalizer says are to stay (RULES K101). What goes because an owner
// of it waits for it goes as that owner does (garbagecollector.go, attemptToDeleteItem).
func overruled(j *Judge, w *Write) {
	left := j.state.Dependents(w.Before.GetUID())
	if len(left) == 0 || j.state.standingOf(w.Before).waiting > 0 {
		return
	}
	j.Ask()
	s := Informed
	if w.Saw != nil && !meta.Finalized(w.Saw, metav1.FinalizerOrphanDependents) {
		s = Committed
	}
	j.Report(s, "deleted without its orphan finalizer, which keeps "+left[0].Ref.String())
}
