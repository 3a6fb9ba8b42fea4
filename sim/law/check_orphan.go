// Checks of ORPHAN-1 to ORPHAN-4.

package law

import (
	"strings"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// release checks ORPHAN-1.
func release(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.unreleased()
		return
	}
	w := &j.write
	if w.Actor == nil || !w.Dependent || !w.Drops || meta.Deleting(w.Before) != meta.Deleting(w.After) {
		return
	}
	j.Ask()
	if w.NewOwner != nil || !meta.SameRefsBut(w.Before, w.After, w.For.UID) {
		j.Report(Informed, "released by "+w.For.String()+" with references of others changed")
	} else if meta.RefTo(w.After, uidOf(w.For)) != nil || !w.onlyRefs(r) {
		j.Report(Informed, "released by "+w.For.String()+" with more than its reference changed")
	} else if r.SawFor != nil && !w.dropped {
		j.releasedMatching(r)
	}
}

// releasedMatching reports a release of an object that its owner selects and would adopt again.
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
			continue // without a selector it is not known what to release
		}
		for _, d := range j.state.Dependents(o.Meta.GetUID()) {
			ref := meta.ControllerOf(d.Meta)
			if ref == nil || ref.UID != o.Meta.GetUID() || !among(o.sub.Owns, d.Ref.Kind) ||
				!o.sub.counts(d.Value, d.Meta) {
				continue
			}
			j.Ask()
			if !j.state.Selects(o.sub, o.Value, d.Meta) {
				j.Report(Informed, d.Ref.String()+" is still owned by "+o.Ref.String()+", which does not select it")
			} else if !o.sub.willing(o.Value, d.Ref.Kind, d.Value) {
				j.Report(Informed, d.Ref.String()+" is still owned by "+o.Ref.String()+
					", and by its name it is none of it")
			}
		}
	}
}

// releaseTolerates checks ORPHAN-2.
func releaseTolerates(j *Judge, r *sim.Record) {
	p := j.state.process(r.Process)
	if p == nil {
		return
	}
	k := p.work(r)
	if k == nil || k.release == "" {
		return
	}
	j.Ask()
	if r.Message != "" && !k.refused && strings.Contains(r.Message, k.release) {
		j.Report(Informed, "the sync of "+r.For.String()+" failed because what it released is gone: "+r.Message)
	}
}

// policyDecides checks ORPHAN-3.
func policyDecides(j *Judge, r *sim.Record) {
	if !j.collecting() {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if meta.Deleting(o.Meta) || meta.ControllerOf(o.Meta) == nil {
				continue
			}
			j.Ask()
			if ref := j.forsaken(o); ref != "" {
				j.Report(Informed, o.Ref.String()+ref)
			}
		}
	}
}

// forsaken returns what is wrong with an object whose controller is gone, or "".
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

// bitBlind checks ORPHAN-4: the collector looks at controlling references only. It deletes what another owner
// keeps, or keeps what has no owner.
func bitBlind(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.plainDangling()
		return
	}
	w := &j.write
	if !w.GC || !w.Deletes || r.Verb != "delete" {
		return
	}
	j.Ask()
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
