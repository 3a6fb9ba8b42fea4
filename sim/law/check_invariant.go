// Which invariants are checked for a record.

package law

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// invariantLaw returns the New of a law that is an [Invariant] in the contracts of controllers.
func invariantLaw(id string, when When) func(*Judge) Check {
	var of []sim.Op
	if when&^WhenSettled != 0 {
		of = append(of, sim.Commit)
	}
	if when&WhenSettled != 0 {
		of = append(of, sim.Settled)
	}
	return On(func(j *Judge, r *sim.Record) {
		if r.Op == sim.Settled {
			j.oneOnEach(id)
			j.overdue(id, r)
			return
		}
		w := &j.write
		if w.process == nil || w.process.Actor.moments&^WhenSettled == 0 {
			return
		}
		if v := w.process.Actor.invariant(id); v != nil {
			j.written(v, r)
		}
	}, of...)
}

// written checks an invariant at a write of its controller: to a dependent of the synced owner, or to another
// object if the controller syncs no kind or has MayEdit.
func (j *Judge) written(v *Invariant, r *sim.Record) {
	w := &j.write
	own := w.Actor != nil && w.Dependent
	others := w.Actor == nil || !own && among(w.Actor.MayEdit, r.Object.Kind)
	if v.When&BeforeCreate != 0 && own {
		j.restsOnWhatStays(v, r)
	}
	if v.When&AtWrite != 0 {
		switch {
		case own:
			j.withinBounds(v, r)
		case others:
			j.sparing(v, r)
		}
	}
	if v.When&AtDelete != 0 {
		switch {
		case own:
			j.takenAlong(v, r)
		case others:
			j.inTime(v, r)
		}
	}
}

// ofWorld returns the New of an invariant of a world.
func ofWorld(v *Invariant) func(*Judge) Check {
	return On(func(j *Judge, r *sim.Record) {
		f := &Facts{Now: sim.Epoch.Add(r.At), All: j.state.values, Get: j.state.get}
		w := &j.write
		switch {
		case r.Op == sim.Settled:
			if v.When&WhenSettled == 0 {
				return
			}
			j.actor, f.Forever = nil, r.Reason != CutShort
			j.askEach()
		case w.process == nil || v.When&AtWrite == 0 && !(v.When&BeforeCreate != 0 && r.Before == nil) &&
			!(v.When&AtDelete != 0 && w.Deletes):
			return
		default:
			f.Before, f.After = objectOf(r.Before), objectOf(r.After)
			f.All = func(kind string) []runtime.Object { return j.state.with(r, kind) }
			f.Get = namedIn(f.All)
			j.Ask()
		}
		if what := j.ask(v, f); what != "" {
			j.Report(Informed, what)
		}
	}, sim.Commit, sim.Settled)
}

// with returns the objects of a kind after a write.
func (s *State) with(r *sim.Record, kind string) (all []runtime.Object) {
	uid := meta.Of(r.Before)
	for _, o := range s.Kind(kind) {
		if uid == nil || o.Meta.GetUID() != uid.GetUID() {
			all = append(all, objectOf(o.Value))
		}
	}
	if r.After != nil && r.Object.Kind == kind {
		all = append(all, objectOf(r.After))
	}
	return all
}
