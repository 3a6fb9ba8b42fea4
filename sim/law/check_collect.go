// Checks of the GC laws on garbage collection: GC-1 and GC-5 to GC-9.

package law

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

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

// cutLive reports that the garbage collector removes a reference to an existing owner although no deletion of the owner
// requires this.
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
		j.Exercise()
		owner := j.state.Object(refs[i].UID)
		if j.state.refState(&refs[i], w.Before.GetNamespace()) != solid || meta.Orphaning(owner.Meta) {
			continue
		}
		if j.state.orphanings.find(w.Before.GetUID(), refs[i].UID) != nil {
			continue // the owner's deletion required this removal, and the owner's finalizer is removed already
		}
		s := committedIf(w.process.sawGoing(owner) || w.process.readWaiting(&refs[i], w.Before.GetNamespace()))
		j.Report(s, "loses its reference to "+refName(&refs[i])+", which is there")
	}
}

// leavesBehind reports that a deletion by the garbage collector orphans dependents although no finalizer of the deleted
// object requires this. This happens if the request names no policy, and the default of the kind is to orphan.
func (j *Judge) leavesBehind(r *sim.Record) {
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	left := j.state.Dependents(w.Before.GetUID())
	if len(left) == 0 {
		return
	}
	j.Exercise()
	if !meta.Orphaning(w.After) || meta.Finalized(w.Before, metav1.FinalizerOrphanDependents) {
		return
	}
	s := committedIf(meta.Finalized(w.Saw, metav1.FinalizerOrphanDependents))
	j.Report(s, "deleted so that "+left[0].Ref.String()+" is orphaned, which nothing asks for")
}

func checkFirst(j *Judge, r *sim.Record) {
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	j.Exercise()
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

func (j *Judge) deletedByCollector(r *sim.Record) *Write {
	if w := &j.write; w.GC && w.Deletes && r.Verb == "delete" {
		return w
	}
	return nil
}

func spareInnocent(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.outOfReach()
		return
	}
	w := j.deletedByCollector(r)
	if w == nil {
		return
	}
	j.Exercise()
	refs := w.Before.GetOwnerReferences()
	if len(refs) == 0 {
		s := committedIf(w.Saw != nil && len(w.Saw.GetOwnerReferences()) > 0)
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

func solidWins(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		if w := j.deletedByCollector(r); w != nil {
			j.Exercise()
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
		j.Exercise()
		if st.solid > 0 && st.waiting > 0 {
			j.Report(Informed, o.Ref.String()+" keeps a waiting owner waiting though it has another")
		}
	})
}

func deleteByUID(j *Judge, r *sim.Record) {
	if w := &j.write; w.GC && strings.HasPrefix(r.Verb, "delete") {
		j.Exercise()
		if r.Guards.UID {
			return
		}
		j.Report(Informed, "deleted by name, without a uid precondition")
	}
}

// eachOwned calls f for every stored object that has owner references and is not terminating, if the garbage
// collector can resolve its owners.
func (j *Judge) eachOwned(f func(o *Object, st refStates)) {
	watched := j.survey().collector.Actor.Owns
	for _, l := range j.state.kinds {
		if len(watched) > 0 && !among(watched, l.kind) {
			continue
		}
		for _, o := range l.objects {
			if len(o.Meta.GetOwnerReferences()) > 0 && !meta.Deleting(o.Meta) && j.resolvable(o) {
				f(o, j.state.refStates(o))
			}
		}
	}
}

// eachDangling calls f for each object of eachOwned with an owner that is absent or in another namespace.
func (j *Judge) eachDangling(f func(o *Object, st refStates)) {
	j.eachOwned(func(o *Object, st refStates) {
		j.Exercise()
		if st.absent+st.foreign > 0 {
			f(o, st)
		}
	})
}

// resolvable reports whether the garbage collector can resolve an object's owners. The server must serve each owner's
// kind, and a cluster-scoped object may not refer to a namespaced kind (RULES K93, K96). The garbage collector does not
// change an object with an unresolvable owner.
func (j *Judge) resolvable(o *Object) bool {
	refs := o.Meta.GetOwnerReferences()
	for i := range refs {
		namespaced, served := j.Kinds(refs[i].APIVersion, refs[i].Kind)
		if !served || namespaced && o.Ref.Namespace == "" {
			return false
		}
	}
	return true
}

// served reports whether the server still serves the API version of an object. A changed CRD may have dropped it.
func (j *Judge) served(o *Object) bool {
	obj, ok := o.Value.(runtime.Object)
	if !ok {
		return true
	}
	version, kind := obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	_, served := j.Kinds(version, kind)
	return kind == "" || served
}

// resolveAll checks GC-6. The garbage collector may set blockOwnerDeletion to false only to break a cycle.
func resolveAll(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		j.unblocked(r)
		return
	}
	if !j.collecting() {
		return
	}
	j.eachDangling(func(o *Object, st refStates) {
		refs := o.Meta.GetOwnerReferences()
		for i := range refs {
			if st.solid+st.waiting == 0 && !j.survey().collector.gone[refs[i].UID] {
				j.Report(Informed, o.Ref.String()+" waits for "+refName(&refs[i])+
					", which no informer showed, to be resolved")
				return
			}
		}
	})
	for o := range j.state.each {
		if meta.Foreground(o.Meta) && j.deadlocked(o) {
			j.Report(Informed, o.Ref.String()+" waits for dependents that wait themselves")
		}
	}
}

// unblocked reports that the garbage collector set blockOwnerDeletion of a reference to false although there is no
// cycle. In a cycle, some dependent of the object waits for its own dependents. The cycle need not contain the object
// itself (RULES K100). The violation is Committed if the actor's caches show a waiting dependent, or may have changed
// since the reconcile began.
func (j *Judge) unblocked(r *sim.Record) {
	w := &j.write
	if !w.GC || w.Before == nil || w.After == nil || !unblocks(w.Before, w.After) {
		return
	}
	j.Exercise()
	uid := w.Before.GetUID()
	if slices.ContainsFunc(j.state.Dependents(uid), func(d *Object) bool {
		return meta.Foreground(d.Meta) || meta.Orphaning(d.Meta) // a dependent that orphans now may have waited before
	}) {
		return
	}
	s, k := Informed, w.process.work(r)
	for _, c := range w.process.caches {
		if k == nil || c.Changed > k.begun || slices.ContainsFunc(c.Entries, func(e view.Entry) bool {
			return meta.Foreground(e.Meta) && meta.RefTo(e.Meta, uid) != nil
		}) {
			s = Committed
		}
	}
	j.Report(s, "no longer blocks its owner, though nothing that depends on it waits")
}

func unblocks(before, after metav1.Object) bool {
	refs := before.GetOwnerReferences()
	return slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool {
		left := meta.RefTo(after, ref.UID)
		return meta.Blocks(&ref) && left != nil && !meta.Blocks(left)
	})
}

// deadlocked reports whether an owner waits for itself, directly or through waiting dependents.
func (j *Judge) deadlocked(o *Object) bool {
	met := []*Object{o}
	for i := 0; i < len(met); i++ {
		uid := met[i].Meta.GetUID()
		for _, d := range j.state.Dependents(uid) {
			if !meta.Foreground(d.Meta) || !meta.Blocks(meta.RefTo(d.Meta, uid)) {
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
