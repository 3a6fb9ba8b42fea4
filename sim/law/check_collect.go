// Checks of the GC laws on what is collected: GC-1, GC-5 and GC-7 to GC-9.

package law

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// collectAll checks GC-1.
func collectAll(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		j.cutLive(r)
		j.leavesBehind(r)
		return
	}
	if !j.collecting() {
		return
	}
	j.eachDangling(func(o *Object, st refStates) {
		if st.solid+st.waiting == 0 {
			j.Report(Informed, o.Ref.String()+" is kept though none of its owners is left")
		} else if st.solid > 0 {
			j.Report(Informed, o.Ref.String()+" keeps a reference to an owner that is gone")
		}
	})
}

// cutLive reports that the collector removed a reference to an owner that exists and whose deletion does not ask
// for it.
func (j *Judge) cutLive(r *sim.Record) {
	w := &j.write
	if !w.GC || w.Before == nil || w.After == nil || r.Verb != "patch" && r.Verb != "update" {
		return
	}
	refs := w.Before.GetOwnerReferences()
	for i := range refs {
		if meta.RefTo(w.After, refs[i].UID) != nil || refs[i].UID == w.Before.GetUID() {
			continue
		}
		j.Ask()
		owner := j.state.Object(refs[i].UID)
		if j.state.refState(&refs[i], w.Before.GetNamespace()) != solid || meta.Orphaning(owner.Meta) {
			continue
		}
		if j.state.orphanings.find(w.Before.GetUID(), refs[i].UID) != nil {
			continue // an accepted deletion asked for it; its finalizer was removed first
		}
		s := Informed
		if w.process.sawGoing(owner) || w.process.readWaiting(&refs[i], w.Before.GetNamespace()) {
			s = Committed
		}
		j.Report(s, "loses its reference to "+refName(&refs[i])+", which is there")
	}
}

// leavesBehind reports that the collector's deletion orphans the dependents of the deleted object without its
// finalizer asking for that. A delete without a policy uses the default of the kind, which may be to orphan.
func (j *Judge) leavesBehind(r *sim.Record) {
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	left := j.state.Dependents(w.Before.GetUID())
	if len(left) == 0 {
		return
	}
	j.Ask()
	if !meta.Orphaning(w.After) || meta.Finalized(w.Before, metav1.FinalizerOrphanDependents) {
		return
	}
	s := Informed
	if meta.Finalized(w.Saw, metav1.FinalizerOrphanDependents) {
		s = Committed
	}
	j.Report(s, "deleted so that "+left[0].Ref.String()+" is orphaned, which nothing asks for")
}

// checkFirst checks GC-5.
func checkFirst(j *Judge, r *sim.Record) {
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	j.Ask()
	refs := w.Before.GetOwnerReferences()
	for i := range refs {
		switch j.state.refState(&refs[i], w.Before.GetNamespace()) {
		case solid:
			j.Report(collects(w, &refs[i]), "deleted while its owner "+refName(&refs[i])+" is there")
			return
		case absent, foreign:
			if r.Incarnation >= w.process.incarnation && !w.process.knowsAbsent(&refs[i], w.Before.GetNamespace()) {
				j.Report(Informed, "deleted without a live check that "+refName(&refs[i])+" is gone")
				return
			}
		}
	}
}

// deletedByCollector returns the commit if it is a deletion by the collector, and nil otherwise.
func (j *Judge) deletedByCollector(r *sim.Record) *Write {
	if w := &j.write; w.GC && w.Deletes && r.Verb == "delete" {
		return w
	}
	return nil
}

// spareInnocent checks GC-7.
func spareInnocent(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.outOfReach()
		return
	}
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	j.Ask()
	refs := w.Before.GetOwnerReferences()
	if len(refs) == 0 {
		s := Informed
		if w.Saw != nil && len(w.Saw.GetOwnerReferences()) > 0 {
			s = Committed
		}
		j.Report(s, "deleted though it has no owner")
		return
	}
	for i := range refs {
		if namespaced, _ := j.Kinds(refs[i].APIVersion, refs[i].Kind); namespaced && w.Before.GetNamespace() == "" {
			j.Report(Informed, "deleted because of "+refName(&refs[i])+", which may be in any namespace")
			return
		}
	}
	if st := j.state.refStatesOf(w.Before); st.foreign > 0 && st.solid > 0 {
		j.Report(Informed, "deleted because of an owner in another namespace, though it has one in its own")
	}
}

func (j *Judge) outOfReach() {
	if !j.collecting() {
		return
	}
	j.eachDangling(func(o *Object, st refStates) {
		if st.foreign > 0 && st.solid+st.waiting == 0 {
			j.Report(Informed, o.Ref.String()+" is kept by an owner in another namespace")
		}
	})
}

// solidWins checks GC-8.
func solidWins(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		if w := j.deletedByCollector(r); w != nil {
			j.Ask()
			if st := j.state.refStatesOf(w.Before); st.solid > 0 && st.waiting > 0 {
				refs := w.Before.GetOwnerReferences()
				s := Committed
				for i := range refs {
					if j.state.refState(&refs[i], w.Before.GetNamespace()) == solid {
						s = min(s, collects(w, &refs[i]))
					}
				}
				j.Report(s, "deleted for a waiting owner though another is there")
			}
		}
		return
	}
	if !j.collecting() {
		return
	}
	j.eachOwned(func(o *Object, st refStates) {
		j.Ask()
		if st.solid > 0 && st.waiting > 0 {
			j.Report(Informed, o.Ref.String()+" keeps a waiting owner waiting though it has another")
		}
	})
}

// deleteByUID checks GC-9.
func deleteByUID(j *Judge, r *sim.Record) {
	if w := &j.write; w.GC && strings.HasPrefix(r.Verb, "delete") {
		j.Ask()
		if r.Guards.UID {
			return
		}
		j.Report(Informed, "deleted by name, without a uid precondition")
	}
}
