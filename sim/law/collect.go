package law

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
)

// eachOwned calls f for every stored object with owner references that the
// collector works on and that is not being deleted, where all of them can be
// resolved.
func (j *Judge) eachOwned(f func(o *Object, st standing)) {
	watched := j.survey().collector.Subject.Dependents
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !slices.Contains(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if len(o.Meta.GetOwnerReferences()) > 0 && !deleting(o.Meta) && j.resolvable(o) {
				f(o, j.state.standing(o))
			}
		}
	}
}

// eachDangling asks about all that eachOwned finds, and calls f for those one of
// whose owners is absent.
func (j *Judge) eachDangling(f func(o *Object, st standing)) {
	j.eachOwned(func(o *Object, st standing) {
		j.ask()
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

// resolvable reports whether it can be told which of an object's owners are
// there. A reference to a kind that the server does not know can't be resolved,
// as the kind may come to be served, and neither can one of a cluster-scoped
// object to a kind of namespaced ones, as nobody knows where to look (RULES K93,
// K96): what has such a reference is left alone.
func (j *Judge) resolvable(o *Object) bool {
	refs := o.Meta.GetOwnerReferences()
	for i := range refs {
		scope := j.Kinds(refs[i].APIVersion, refs[i].Kind)
		if scope == Unserved || scope == Namespaced && o.Ref.Namespace == "" {
			return false
		}
	}
	return true
}

// collectAll is GC-1.
func collectAll(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		j.cutLive(r)
		return
	}
	if j.survey().collector == nil {
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

// cutLive reports a reference that the collector took off an object though its
// owner is there and its deletion does not ask for it.
func (j *Judge) cutLive(r *sim.Record) {
	w := &j.write
	if !w.GC || w.Before == nil || w.After == nil || r.Verb != "patch" && r.Verb != "update" {
		return
	}
	refs := w.Before.GetOwnerReferences()
	for i := range refs {
		if refTo(w.After, refs[i].UID) != nil {
			continue
		}
		j.ask()
		owner := j.state.Object(refs[i].UID)
		if j.state.footing(&refs[i], w.Before.GetNamespace()) != solid || orphaning(owner.Meta) {
			continue
		}
		if j.state.promises.find(w.Before.GetUID(), refs[i].UID) != nil {
			continue // an accepted deletion asked for it, whose finalizer went before
		}
		s := Informed
		if w.Process.sawGoing(owner) || w.Process.readWaiting(&refs[i], w.Before.GetNamespace()) {
			s = Committed
		}
		j.Report(s, "loses its reference to "+refName(&refs[i])+", which is there")
	}
}

// sawGoing reports whether a collector's view has an owner as one that lets its
// dependents go: they are orphaned, or it waits for them.
func (p *Process) sawGoing(owner *Object) bool {
	c := p.Cache(owner.Ref.Kind).Get(owner.Ref.Namespace, owner.Ref.Name)
	return c != nil && c.Meta.GetUID() == owner.Meta.GetUID() && (orphaning(c.Meta) || foreground(c.Meta))
}

// sawBefore reports whether the process had been shown a dependent's reference
// before the request left that a record answers. Where the record does not say
// when that was, it is taken to be when its sync began, or else now.
func (p *Process) sawBefore(r *sim.Record, o *Object, owner types.UID) bool {
	c, k := p.Cache(o.Ref.Kind).Get(o.Ref.Namespace, o.Ref.Name), p.work(r)
	if c == nil || k == nil || c.Meta.GetUID() != o.Meta.GetUID() || refTo(c.Meta, owner) == nil {
		return false
	}
	left := r.Asked
	if left == 0 {
		left = k.begun
	}
	return left == 0 || c.since < left
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
	j.ask()
	owner := w.Before.GetUID()
	s, left := Committed, (*Object)(nil)
	for _, o := range j.state.Dependents(owner) {
		if !blocks(refTo(o.Meta, owner)) {
			continue
		}
		if left == nil {
			left = o
		}
		if w.Process.sawBefore(r, o, owner) {
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
	if j.survey().collector == nil {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if !foreground(o.Meta) {
				continue
			}
			j.ask()
			if !j.blocked(o) {
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
	j.ask()
	owner := w.Before.GetUID()
	left := j.state.Dependents(owner)
	if len(left) > 0 && w.Process.tookForAnother(r, owner) {
		j.Report(Informed, "let go in the place of an earlier "+r.Object.String()+", while "+left[0].Ref.String()+" refers to it")
		return
	}
	for _, o := range left {
		if q := j.state.promises.find(o.Meta.GetUID(), owner); q != nil && q.again {
			continue // it had been orphaned: who adopted it again is to blame
		}
		if w.Process.sawBefore(r, o, owner) {
			j.Report(Informed, "let go while "+o.Ref.String()+" refers to it")
			return
		}
	}
	if len(left) > 0 {
		j.Report(Committed, "let go while "+left[0].Ref.String()+", not seen yet, refers to it")
	}
}

func (j *Judge) stuckOrphaning() {
	if j.survey().collector == nil {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if orphaning(o.Meta) {
				j.ask()
				j.Report(Informed, o.Ref.String()+" still waits for its dependents to be orphaned")
			}
		}
	}
}

// resolveAll is GC-6: owners no informer ever showed, and owners that wait for
// each other.
func resolveAll(j *Judge, r *sim.Record) {
	if j.survey().collector == nil {
		return
	}
	j.eachDangling(func(o *Object, st standing) {
		refs := o.Meta.GetOwnerReferences()
		for i := range refs {
			if st.solid+st.waiting == 0 && !j.survey().collector.gone[refs[i].UID] {
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
