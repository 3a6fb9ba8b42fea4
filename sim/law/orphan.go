package law

import (
	"slices"
	"strings"

	"github.com/threelaws/threelaws/sim"
)

// release is ORPHAN-1: an owned object that stopped matching is let go, and a
// release takes the actor's reference and nothing else.
func release(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.unreleased()
		return
	}
	w := &j.write
	if w.Subject == nil || !w.Dependent || !w.Drops || deleting(w.Before) != deleting(w.After) {
		return
	}
	if w.NewOwner != nil || !sameRefsBut(w.Before, w.After, r.For.UID) {
		j.Report(Informed, "released by "+r.For.String()+" with references of others changed")
	} else if refTo(w.After, uidOf(r.For)) != nil || !onlyRefs(r) {
		j.Report(Informed, "released by "+r.For.String()+" with more than its reference changed")
	}
}

func (j *Judge) unreleased() {
	c := j.survey()
	if c.disturbed {
		return
	}
	for i := range c.owners {
		o := &c.owners[i]
		if o.sub.Selector == nil {
			continue
		}
		for _, d := range j.state.Dependents(o.Meta.GetUID()) {
			ref := controllerOf(d.Meta)
			if ref == nil || ref.UID != o.Meta.GetUID() || !slices.Contains(o.sub.Dependents, d.Ref.Kind) || !o.sub.active(d) {
				continue
			}
			if !j.state.Selects(o.sub, o.Value, d.Meta) {
				j.Report(Informed, d.Ref.String()+" is still owned by "+o.Ref.String()+", which does not select it")
			}
		}
	}
}

// releaseTolerates is ORPHAN-2.
func releaseTolerates(j *Judge, r *sim.Record) {
	p := j.state.Process(r.Process)
	if p == nil || r.Message == "" {
		return
	}
	k := p.work(r)
	if k != nil && k.release != "" && !k.refused && strings.Contains(r.Message, k.release) {
		j.Report(Informed, "the sync of "+r.For.String()+" failed because what it released is gone: "+r.Message)
	}
}

// policyDecides is ORPHAN-3.
func policyDecides(j *Judge, r *sim.Record) {
	c := j.survey()
	if c.disturbed || c.collector == nil {
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if deleting(o.Meta) || o.Ref.Namespace == "" {
				continue
			}
			if ref := j.forsaken(o); ref != "" {
				j.Report(Informed, o.Ref.String()+ref)
			}
		}
	}
}

// forsaken says what is wrong with an object whose controller is gone; "" for
// nothing.
func (j *Judge) forsaken(o *Object) string {
	ref := controllerOf(o.Meta)
	if ref == nil || j.state.Object(ref.UID) != nil || j.state.subjectFor(ref.Kind) == nil {
		return ""
	}
	if q := j.state.promises.find(o.Meta.GetUID(), ref.UID); q != nil {
		return " still names " + refName(ref) + ", which was to orphan it"
	}
	if j.state.standing(o).solid == 0 {
		return " outlives its owner " + refName(ref)
	}
	return ""
}

// bitBlind is ORPHAN-4: a collector that goes by the controller bit deletes
// what another owner still holds, or keeps what none holds.
func bitBlind(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.plainDangling()
		return
	}
	w := &j.write
	if !w.GC || !w.Deletes || r.Verb != "delete" {
		return
	}
	refs := w.Before.GetOwnerReferences()
	for i := range refs {
		if isController(&refs[i]) || j.state.footing(&refs[i], w.Before.GetNamespace()) != solid {
			continue
		}
		s := Informed
		if w.Saw != nil && refTo(w.Saw, refs[i].UID) == nil {
			s = Committed
		}
		j.Report(s, "deleted though "+refName(&refs[i])+", an owner that does not control, is there")
		return
	}
}

func (j *Judge) plainDangling() {
	c := j.survey()
	if c.disturbed || c.collector == nil {
		return
	}
	j.eachDangling(func(o *Object, st standing) {
		if st.solid+st.waiting == 0 && controllerOf(o.Meta) == nil {
			j.Report(Informed, o.Ref.String()+" is kept though none of its owners is left, none of which controls")
		}
	})
}
