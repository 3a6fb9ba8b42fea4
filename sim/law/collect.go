package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// eachOwned calls f for every stored namespaced object with owner references
// that the collector works on and that is not being deleted. A reference to a
// kind nobody has met can't be resolved: such objects are left out.
func (j *Judge) eachOwned(f func(o *Object, st standing)) {
	watched := j.survey().collector.Subject.Dependents
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !slices.Contains(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if refs := o.Meta.GetOwnerReferences(); len(refs) > 0 && !deleting(o.Meta) && o.Ref.Namespace != "" && j.resolvable(refs) {
				f(o, j.state.standing(o))
			}
		}
	}
}

// eachDangling is eachOwned of the objects one of whose owners is absent.
func (j *Judge) eachDangling(f func(o *Object, st standing)) {
	j.eachOwned(func(o *Object, st standing) {
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

func (j *Judge) resolvable(refs []metav1.OwnerReference) bool {
	for i := range refs {
		if !j.state.known(refs[i].Kind) {
			return false
		}
	}
	return true
}

// collectAll is GC-1.
func collectAll(j *Judge, r *sim.Record) {
	c := j.survey()
	if c.disturbed || c.collector == nil {
		return
	}
	j.eachDangling(func(o *Object, st standing) {
		if st.solid+st.waiting == 0 {
			j.Report(Informed, o.Ref.String()+" is kept though none of its owners is left")
		} else if st.solid > 0 {
			j.Report(Informed, o.Ref.String()+" keeps a reference to an owner that is gone")
		}
	})
}

// sawInSync reports whether the process knew of a dependent's reference when the
// sync that a record belongs to began: it decides from what it knows then. Of a
// write outside any sync it is what the process knows now.
func (p *Process) sawInSync(r *sim.Record, o *Object, owner types.UID) bool {
	c, k := p.Cache(o.Ref.Kind).Get(o.Ref.Namespace, o.Ref.Name), p.work(r)
	return c != nil && k != nil && (k.begun == 0 || c.since < k.begun) && c.Meta.GetUID() == o.Meta.GetUID() && refTo(c.Meta, owner) != nil
}

// tookForAnother reports whether the object of a commit was another incarnation
// to the process when the sync began that the commit belongs to.
func (p *Process) tookForAnother(r *sim.Record, uid types.UID) bool {
	c, k := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name), p.work(r)
	return c != nil && (c.Meta.GetUID() != uid || k != nil && k.begun > 0 && c.born > k.begun)
}

// foregroundWaits is GC-2.
func foregroundWaits(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckWaiting()
		return
	}
	w := &j.write
	if !w.GC || !foreground(w.Before) || foreground(w.After) {
		return
	}
	owner := w.Before.GetUID()
	s, left := Committed, (*Object)(nil)
	for _, o := range j.state.Dependents(owner) {
		if !blocks(refTo(o.Meta, owner)) {
			continue
		}
		if left == nil {
			left = o
		}
		if w.Process.sawInSync(r, o, owner) {
			s, left = Informed, o
			break
		}
	}
	if left != nil {
		j.Report(s, "let go while "+left.Ref.String()+" blocks it")
	}
}

// stuckWaiting reports owners that wait although nothing blocks them.
func (j *Judge) stuckWaiting() {
	c := j.survey()
	if c.disturbed || c.collector == nil {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if foreground(o.Meta) && !j.blocked(o) {
				j.Report(Informed, o.Ref.String()+" waits although nothing blocks it")
			}
		}
	}
}

func (j *Judge) blocked(o *Object) bool {
	for _, d := range j.state.Dependents(o.Meta.GetUID()) {
		if blocks(refTo(d.Meta, o.Meta.GetUID())) {
			return true
		}
	}
	return false
}

// orphanFirst is GC-3.
func orphanFirst(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckOrphaning()
		return
	}
	w := &j.write
	if !w.GC || !orphaning(w.Before) || orphaning(w.After) {
		return
	}
	owner := w.Before.GetUID()
	left := j.state.Dependents(owner)
	if len(left) > 0 && w.Process.tookForAnother(r, owner) {
		j.Report(Informed, "let go in the place of an earlier "+r.Object.String()+", while "+left[0].Ref.String()+" refers to it")
		return
	}
	for _, o := range left {
		if w.Process.sawInSync(r, o, owner) {
			j.Report(Informed, "let go while "+o.Ref.String()+" refers to it")
			return
		}
	}
	if len(left) > 0 {
		j.Report(Committed, "let go while "+left[0].Ref.String()+", not seen yet, refers to it")
	}
}

func (j *Judge) stuckOrphaning() {
	c := j.survey()
	if c.disturbed || c.collector == nil {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if orphaning(o.Meta) {
				j.Report(Informed, o.Ref.String()+" still waits for its dependents to be orphaned")
			}
		}
	}
}

// resolveAll is GC-6: owners no informer ever showed, and owners that wait for
// each other.
func resolveAll(j *Judge, r *sim.Record) {
	c := j.survey()
	if c.disturbed || c.collector == nil {
		return
	}
	j.eachDangling(func(o *Object, st standing) {
		refs := o.Meta.GetOwnerReferences()
		for i := range refs {
			if st.solid+st.waiting == 0 && !c.collector.gone[refs[i].UID] {
				j.Report(Informed, o.Ref.String()+" waits for "+refName(&refs[i])+", which no informer showed, to be resolved")
				return
			}
		}
	})
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if foreground(o.Meta) && j.deadlocked(o) {
				j.Report(Informed, o.Ref.String()+" waits for dependents that wait themselves")
			}
		}
	}
}

// deadlocked reports whether an owner waits, through others that wait, for itself.
func (j *Judge) deadlocked(o *Object) bool {
	met := []*Object{o}
	for i := 0; i < len(met); i++ {
		uid := met[i].Meta.GetUID()
		for _, d := range j.state.Dependents(uid) {
			if !foreground(d.Meta) || !blocks(refTo(d.Meta, uid)) {
				continue
			}
			if d == o {
				return true
			}
			if !slices.Contains(met, d) {
				met = append(met, d)
			}
		}
	}
	return false
}
