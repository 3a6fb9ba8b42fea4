package law

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// footing is what an owner reference rests on.
type footing uint8

const (
	absent  footing = iota // no such owner, or out of reach
	foreign                // the owner is in another namespace: as good as absent (GC-7)
	waiting                // the owner waits for its dependents to go
	solid                  // the owner is there
)

// footing looks an owner reference of an object in a namespace up.
func (s *State) footing(ref *metav1.OwnerReference, namespace string) footing {
	o := s.byUID[ref.UID]
	switch {
	case o == nil || o.Ref.Kind != ref.Kind || o.Ref.Name != ref.Name:
		return absent
	case o.Ref.Namespace != "" && o.Ref.Namespace != namespace:
		return foreign
	case foreground(o.Meta):
		return waiting
	}
	return solid
}

func foreground(m metav1.Object) bool {
	return deleting(m) && finalized(m, metav1.FinalizerDeleteDependents)
}

// standing counts an object's owner references by footing.
type standing struct{ absent, foreign, waiting, solid int }

func (s *State) standing(o *Object) standing { return s.standingOf(o.Meta) }

func (s *State) standingOf(m metav1.Object) standing {
	var st standing
	refs := m.GetOwnerReferences()
	for i := range refs {
		switch s.footing(&refs[i], m.GetNamespace()) {
		case absent:
			st.absent++
		case foreign:
			st.foreign++
		case waiting:
			st.waiting++
		case solid:
			st.solid++
		}
	}
	return st
}

// deletedByCollector returns the commit's facts when it is a collector's
// deletion, nil otherwise.
func (j *Judge) deletedByCollector(r *sim.Record) *Write {
	if w := &j.write; w.GC && w.Deletes && r.Verb == "delete" {
		return w
	}
	return nil
}

// checkFirst is GC-5.
func checkFirst(j *Judge, r *sim.Record) {
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	j.ask()
	refs := w.Before.GetOwnerReferences()
	for i := range refs {
		switch j.state.footing(&refs[i], w.Before.GetNamespace()) {
		case solid:
			s := newsTo(w, refs[i].UID)
			if w.Process.readWaiting(&refs[i], w.Before.GetNamespace()) {
				s = Committed
			}
			j.Report(s, "deleted while its owner "+refName(&refs[i])+" is there")
			return
		case absent, foreign:
			if r.Incarnation >= w.Process.incarnation && !w.Process.knowsAbsent(&refs[i], w.Before.GetNamespace()) {
				j.Report(Informed, "deleted without a live check that "+refName(&refs[i])+" is gone")
				return
			}
		}
	}
}

// newsTo is Committed where the actor had last read the object without a
// reference to that owner.
func newsTo(w *Write, owner types.UID) Strength {
	if w.Saw != nil && refTo(w.Saw, owner) == nil {
		return Committed
	}
	return Informed
}

// knowsAbsent reports whether a collector was told that the owner a reference
// names is gone, by a live read in the namespaces where it could be or by a
// delivered deletion. That it was going, when it was read, does as well.
func (p *Process) knowsAbsent(ref *metav1.OwnerReference, namespace string) bool {
	if p.gone[ref.UID] || p.readWaiting(ref, namespace) {
		return true
	}
	for _, ns := range [2]string{namespace, ""} {
		if l, ok := p.lookups[coords{ref.Kind, ns, ref.Name}]; ok && l.uid != ref.UID {
			return true
		}
	}
	return false
}

// readWaiting reports whether the collector's last live read of the owner that
// a reference names found it waiting for its dependents.
func (p *Process) readWaiting(ref *metav1.OwnerReference, namespace string) bool {
	for _, ns := range [2]string{namespace, ""} {
		if l := p.lookups[coords{ref.Kind, ns, ref.Name}]; l.uid == ref.UID && l.waiting {
			return true
		}
	}
	return false
}

// spareInnocent is GC-7.
func spareInnocent(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.outOfReach()
		return
	}
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	j.ask()
	refs := w.Before.GetOwnerReferences()
	if len(refs) == 0 {
		s := Informed
		if w.Saw != nil && len(w.Saw.GetOwnerReferences()) > 0 {
			s = Committed
		}
		j.Report(s, "deleted though it has no owner")
		return
	}
	if st := j.state.standingOf(w.Before); st.foreign > 0 && st.solid > 0 {
		j.Report(Informed, "deleted because of an owner in another namespace, though it has one in its own")
	}
}

func (j *Judge) outOfReach() {
	if j.survey().collector == nil {
		return
	}
	j.eachDangling(func(o *Object, st standing) {
		if st.foreign > 0 && st.solid+st.waiting == 0 {
			j.Report(Informed, o.Ref.String()+" is kept by an owner in another namespace")
		}
	})
}

// orphansSurvive is GC-4.
func orphansSurvive(j *Judge, r *sim.Record) {
	w := &j.write
	if orphaning(w.After) && !orphaning(w.Before) && len(j.state.Dependents(w.After.GetUID())) > 0 {
		j.ask() // from here on they are not to be deleted because of it
	}
	if !w.Deletes || w.Process == nil {
		return
	}
	if w.GC && finalized(w.Before, metav1.FinalizerOrphanDependents) && !finalized(w.After, metav1.FinalizerOrphanDependents) {
		overruled(j, w)
	}
	if len(j.state.promises.byObject) == 0 {
		return
	}
	for _, q := range j.state.promises.byObject[w.Before.GetUID()] {
		ref := refTo(w.Before, q.owner)
		switch {
		case w.GC && r.Verb == "delete" && ref != nil:
			s := q.strength
			if k := w.Process.work(r); k != nil && k.begun > 0 && k.begun < q.made {
				s = Committed // the deletion it was working on was another then
			}
			j.Report(s, "deleted because of "+refName(ref)+", whose deletion was to orphan it")
			return
		case w.Subject != nil && q.owner == uidOf(r.For):
			s := Committed
			if deleting(meta(r.SawFor)) {
				s = Informed
			}
			j.Report(s, "deleted for "+r.For.String()+", whose deletion was to orphan it")
			return
		}
	}
}

// overruled reports a deletion that took the orphan finalizer off an object with
// dependents, which that finalizer says are to stay (RULES K101).
func overruled(j *Judge, w *Write) {
	left := j.state.Dependents(w.Before.GetUID())
	if len(left) == 0 {
		return
	}
	j.ask()
	s := Informed
	if w.Saw != nil && !finalized(w.Saw, metav1.FinalizerOrphanDependents) {
		s = Committed
	}
	j.Report(s, "deleted without its orphan finalizer, which keeps "+left[0].Ref.String())
}

// deleteByUID is GC-9.
func deleteByUID(j *Judge, r *sim.Record) {
	if w := &j.write; w.GC && strings.HasPrefix(r.Verb, "delete") {
		j.ask()
		if r.Guards.UID {
			return
		}
		j.Report(Informed, "deleted by name, without a uid precondition")
	}
}

// solidWins is GC-8.
func solidWins(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		if w := j.deletedByCollector(r); w != nil {
			j.ask()
			if st := j.state.standingOf(w.Before); st.solid > 0 && st.waiting > 0 {
				refs := w.Before.GetOwnerReferences()
				s := Committed
				for i := range refs {
					if j.state.footing(&refs[i], w.Before.GetNamespace()) == solid {
						s = min(s, newsTo(w, refs[i].UID))
					}
				}
				j.Report(s, "deleted for a waiting owner though another is there")
			}
		}
		return
	}
	if j.survey().collector == nil {
		return
	}
	j.eachOwned(func(o *Object, st standing) {
		j.ask()
		if st.solid > 0 && st.waiting > 0 {
			j.Report(Informed, o.Ref.String()+" keeps a waiting owner waiting though it has another")
		}
	})
}
