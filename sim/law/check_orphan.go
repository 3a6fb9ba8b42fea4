// Checks of ORPHAN-1 to ORPHAN-4, and of the GC laws on deletions of an owner: foreground (GC-2) and orphaning (GC-3,
// GC-4).

package law

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

func release(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.unreleased()
		return
	}
	w := &j.write
	if w.Actor == nil || !w.Dependent || !w.Drops || meta.Deleting(w.Before) != meta.Deleting(w.After) {
		return
	}
	j.Exercise()
	if w.NewOwner != nil || !meta.SameRefsBut(w.Before, w.After, w.For.UID) {
		j.Report(Informed, "released by "+w.For.String()+" with references of others changed")
	} else if meta.RefTo(w.After, uidOf(w.For)) != nil || !w.onlyRefs(r) {
		j.Report(Informed, "released by "+w.For.String()+" with more than its reference changed")
	} else if r.SawFor != nil && !w.dropped {
		j.releasedMatching(r)
	}
}

// releasedMatching reports a release of an object that its owner selects and could adopt.
func (j *Judge) releasedMatching(r *sim.Record) {
	w := &j.write
	if w.Actor.Selector == nil {
		return
	}
	seen, value := w.Saw, r.Saw
	if seen == nil {
		seen, value = w.Before, r.Before
	}
	if j.state.Selects(w.Actor, r.SawFor, seen) && w.Actor.willing(r.SawFor, r.Object.Kind, value) {
		j.Report(Informed, "released by "+w.For.String()+", which selects it")
		return
	}
	o := j.state.Object(uidOf(w.For))
	if o != nil && j.state.Selects(w.Actor, o.Value, w.Before) &&
		w.Actor.willing(o.Value, r.Object.Kind, r.Before) {
		j.Report(Committed, "released by "+w.For.String()+", which selects it by now")
	}
}

func (j *Judge) unreleased() {
	c := j.survey()
	for i := range c.owners {
		o := &c.owners[i]
		if o.sub.Selector == nil || !j.settled(o) || o.sub.leaves(o.Value) || j.state.selector(o.sub, o.Value) == nil {
			continue // the law does not apply to the owner, or the owner has no selector
		}
		for _, d := range j.state.Dependents(o.Meta.GetUID()) {
			if !meta.ControlledBy(d.Meta, o.Meta.GetUID()) || !among(o.sub.Owns, d.Ref.Kind) ||
				!o.sub.counts(d.Value, d.Meta) {
				continue
			}
			j.Exercise()
			if !j.state.Selects(o.sub, o.Value, d.Meta) {
				j.Report(Informed, d.Ref.String()+" is still owned by "+o.Ref.String()+", which does not select it")
			} else if !o.sub.willing(o.Value, d.Ref.Kind, d.Value) {
				j.Report(Informed, d.Ref.String()+" is still owned by "+o.Ref.String()+
					", and by its name it is none of it")
			}
		}
	}
}

func releaseTolerates(j *Judge, r *sim.Record) {
	p := j.state.process(r.Process)
	if p == nil {
		return
	}
	k := p.work(r)
	if k == nil || k.release == "" {
		return
	}
	j.Exercise()
	if r.Message != "" && !k.refused && strings.Contains(r.Message, k.release) {
		j.Report(Informed, "the sync of "+r.For.String()+" failed because what it released is gone: "+r.Message)
	}
}

func policyDecides(j *Judge, r *sim.Record) {
	if !j.collecting() {
		return
	}
	for o := range j.state.each {
		if meta.Deleting(o.Meta) || meta.ControllerOf(o.Meta) == nil {
			continue
		}
		j.Exercise()
		if ref := j.forsaken(o); ref != "" {
			j.Report(Informed, o.Ref.String()+ref)
		}
	}
}

// forsaken returns what is wrong with an object whose controller no longer exists, or "".
func (j *Judge) forsaken(o *Object) string {
	ref := meta.ControllerOf(o.Meta)
	if ref == nil || j.state.Object(ref.UID) != nil || j.state.subjectFor(ref.Kind) == nil || !j.resolvable(o) {
		return ""
	}
	if q := j.state.orphanings.find(o.Meta.GetUID(), ref.UID); q != nil {
		return " still names " + refName(ref) + ", which was to orphan it"
	}
	if j.state.refStates(o).solid == 0 {
		return " outlives its owner " + refName(ref)
	}
	return ""
}

// bitBlind checks ORPHAN-4: the garbage collector must treat plain owner references like ControllerRefs. It may not
// delete an object while the owner in a plain reference exists. It must delete an object with only plain references if
// all their owners are gone.
func bitBlind(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.plainDangling()
		return
	}
	w := &j.write
	if !w.GC || !w.Deletes || r.Verb != "delete" {
		return
	}
	j.Exercise()
	refs := w.Before.GetOwnerReferences()
	for i := range refs {
		if meta.Controls(&refs[i]) || j.state.refState(&refs[i], w.Before.GetNamespace()) != solid {
			continue
		}
		j.Report(collects(w, &refs[i]),
			"deleted though "+refName(&refs[i])+", an owner that does not control, is there")
		return
	}
}

func (j *Judge) plainDangling() {
	if !j.collecting() {
		return
	}
	j.eachDangling(func(o *Object, st refStates) {
		if st.solid+st.waiting == 0 && meta.ControllerOf(o.Meta) == nil {
			j.Report(Informed, o.Ref.String()+" is kept though none of its owners is left, none of which controls")
		}
	})
}

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
	j.Exercise()
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

// overruledForeground reports that a deletion removed the foreground finalizer from an object although a dependent
// blocks the deletion (RULES K101). If the object now has the orphan finalizer, there is no violation, because the
// orphan finalizer has precedence.
func overruledForeground(j *Judge, w *Write) {
	if !w.Deletes || meta.Orphaning(w.After) {
		return
	}
	left := j.blocker(w.Before.GetUID())
	if left == nil {
		return
	}
	j.Exercise()
	s := committedIf(w.Saw != nil && !meta.Finalized(w.Saw, metav1.FinalizerDeleteDependents))
	j.Report(s, "deleted without its foreground finalizer, though "+left.Ref.String()+" blocks it")
}

func (j *Judge) stuckWaiting() {
	if !j.collecting() {
		return
	}
	for o := range j.state.each {
		if !meta.Foreground(o.Meta) {
			continue
		}
		j.Exercise()
		if j.blocker(o.Meta.GetUID()) == nil {
			j.Report(Informed, o.Ref.String()+" waits although nothing blocks it")
		}
	}
}

func (j *Judge) blocker(owner types.UID) *Object {
	for _, d := range j.state.Dependents(owner) {
		if meta.Blocks(meta.RefTo(d.Meta, owner)) {
			return d
		}
	}
	return nil
}

func orphanFirst(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckOrphaning()
		return
	}
	w := &j.write
	if !w.GC || !meta.Orphaning(w.Before) || meta.Orphaning(w.After) {
		return
	}
	j.Exercise()
	owner := w.Before.GetUID()
	left := j.state.Dependents(owner)
	if len(left) > 0 && w.process.tookForAnother(r, owner) {
		j.Report(Informed, "let go in the place of an earlier "+r.Object.String()+", while "+left[0].Ref.String()+
			" refers to it")
		return
	}
	for _, o := range left {
		if o.Meta.GetUID() == owner || !j.served(o) {
			continue // o is the owner itself, or the server no longer serves the API version of o
		}
		if q := j.state.orphanings.find(o.Meta.GetUID(), owner); q != nil && q.again {
			continue // o was orphaned before, and ADOPT-7 reports its adoption
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
	for o := range j.state.each {
		if meta.Orphaning(o.Meta) {
			j.Exercise()
			j.Report(Informed, o.Ref.String()+" still waits for its dependents to be orphaned")
		}
	}
}

func orphansSurvive(j *Judge, r *sim.Record) {
	w := &j.write
	if meta.Orphaning(w.After) && !meta.Orphaning(w.Before) && len(j.state.Dependents(w.After.GetUID())) > 0 {
		j.actor = j.state.collecting()
		j.Exercise() // the dependents must survive this deletion
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
				s = Committed // the garbage collector began its work before the owner's deletion was accepted
			}
			j.Report(s, "deleted because of "+refName(ref)+", whose deletion was to orphan it")
			return
		case w.Actor != nil && q.owner == uidOf(r.For) && w.ofFor() && j.cleansUp(r):
			return // the owner has a finalizer of the actor, so the actor may delete the dependents
		case w.Actor != nil && q.owner == uidOf(r.For):
			s := informedIf(meta.Deleting(meta.Of(r.SawFor)))
			j.Report(s, "deleted for "+r.For.String()+", whose deletion was to orphan it")
			return
		}
	}
}

// overruled reports that a deletion removed the orphan finalizer from an object although its dependents must stay
// (RULES K101). If an owner waits for the object, the owner's policy applies (garbagecollector.go,
// attemptToDeleteItem). Then overruled reports nothing.
func overruled(j *Judge, w *Write) {
	left := j.state.Dependents(w.Before.GetUID())
	if len(left) == 0 || j.state.refStatesOf(w.Before).waiting > 0 {
		return
	}
	j.Exercise()
	s := committedIf(w.Saw != nil && !meta.Finalized(w.Saw, metav1.FinalizerOrphanDependents))
	j.Report(s, "deleted without its orphan finalizer, which keeps "+left[0].Ref.String())
}
