package law

import (
	"github.com/threelaws/threelaws/sim"
)

// takeOwnership is LAW-1.
func takeOwnership(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Subject == nil || !w.Dependent || w.Before != nil || w.After == nil || isFor(w.NewOwner, r) || w.dropped {
		return
	}
	switch {
	case w.NewOwner != nil:
		j.Report(Informed, "created for "+refName(w.NewOwner)+" in a sync of "+r.For.String())
	case refTo(w.After, uidOf(r.For)) != nil:
		j.Report(Informed, "created with a reference to "+r.For.String()+" that does not control")
	default:
		j.Report(Informed, "created without a ControllerRef")
	}
}

// claimOrphansOnly is LAW-1b. It covers API-6: the server lets a write that
// replaces the list of references take an object over.
func claimOrphansOnly(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Subject == nil || !w.Claims || w.Owner == nil {
		return
	}
	s := Committed
	if w.Saw == nil || w.SawOwner != nil && !sameRef(w.SawOwner, w.NewOwner) {
		s = Informed
	}
	j.Report(s, "taken from "+refName(w.Owner)+" by "+refName(w.NewOwner))
}

// dontInterfere is LAW-2.
func dontInterfere(j *Judge, r *sim.Record) {
	w := &j.write
	if w.Subject == nil || !w.Dependent || w.Before == nil || w.Mine || w.harmless(r) {
		return
	}
	s := Informed
	if w.Saw != nil && (w.SawMine || w.SawOwner == nil && w.Adopts && w.adds(r, r.For.UID)) {
		s = Committed
	}
	j.Report(s, ownedBy(w.Owner))
}

// harmless reports whether a write to an object that is not the actor's is one
// of the two it may make: adoption of an orphan, and taking back a reference
// of its own.
func (w *Write) harmless(r *sim.Record) bool {
	if w.After == nil || r.For.UID == "" {
		return false
	}
	own := uidOf(r.For)
	// An adopter may have an entry already that did not control: it is made whole (API-2).
	if w.Owner == nil && (w.Adopts || w.dropped && refTo(w.Before, own) == nil) {
		return w.adds(r, r.For.UID)
	}
	return refTo(w.Before, own) != nil && refTo(w.After, own) == nil &&
		sameRefsBut(w.Before, w.After, r.For.UID) && onlyRefs(r)
}

// dontShare is LAW-3. While things move, a status may count no more than the
// process can have seen its owner own in this sync; when all is quiet, the
// stored objects are counted.
func dontShare(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.sharing()
		return
	}
	if k, over := overcounted(&j.write, r); over {
		j.Report(Informed, "counts "+itoa(j.write.Subject.Counted(r.After))+" in its status, has been shown "+itoa(k.counted)+" of its own")
	}
}

// overcounted reports whether a write brings the number in a status above what
// the worker can have seen its owner own.
func overcounted(w *Write, r *sim.Record) (*work, bool) {
	if w.Subject == nil || w.Subject.Counted == nil || w.Before == nil || w.After == nil ||
		r.Object.Kind != w.Subject.Kind || string(w.After.GetUID()) != r.For.UID {
		return nil, false
	}
	k := w.Process.work(r)
	if k == nil || k.owner != w.After.GetUID() {
		return nil, false
	}
	n := w.Subject.Counted(r.After)
	return k, n > k.counted && n != w.Subject.Counted(r.Before)
}

func (j *Judge) sharing() {
	c := j.survey()
	if c.disturbed {
		return
	}
	for i := range c.owners {
		o := &c.owners[i]
		if o.sub.Counted != nil {
			if n := o.sub.Counted(o.Value); n > o.owned {
				j.Report(Informed, o.Ref.String()+" counts "+itoa(n)+" in its status, owns "+itoa(o.owned))
				continue
			}
		}
		if o.want <= o.owned {
			continue
		}
		if n := j.shared(o); n > 0 && o.owned+n >= o.want {
			j.Report(Informed, o.Ref.String()+" wants "+itoa(o.want)+", owns "+itoa(o.owned)+", is content with "+itoa(n)+" it does not own")
		}
	}
}

// shared counts the active dependents an owner selects and does not own.
func (j *Judge) shared(o *ownerCount) int {
	n := 0
	for _, kind := range o.sub.Dependents {
		for _, d := range j.state.Kind(kind) {
			if o.sub.active(d) && j.state.Selects(o.sub, o.Value, d.Meta) {
				if ref := controllerOf(d.Meta); ref == nil || ref.UID != o.Meta.GetUID() {
					n++
				}
			}
		}
	}
	return n
}
