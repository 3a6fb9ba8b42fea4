// The checks of EXACT-6 and EXACT-7: what is left undone when the world is at rest.

package law

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// nothingStays is EXACT-6. It asks for each object alone whether those who hold
// it are up and see: that somebody else is down is no excuse for them.
func nothingStays(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		if w := &j.write; w.process != nil && w.Before != nil && len(w.Before.GetFinalizers()) > 0 &&
			(w.After == nil || len(w.After.GetFinalizers()) < len(w.Before.GetFinalizers())) {
			j.Ask()
		}
		return
	}
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if !meta.Deleting(o.Meta) {
				continue
			}
			if j.excused(o, nil) {
				continue
			}
			j.Ask()
			if f := o.Meta.GetFinalizers(); len(f) > 0 {
				j.Report(Informed, o.Ref.String()+" stays terminating, held by "+strings.Join(f, " and ")+" alone")
			} else if l.kind == "Namespace" {
				j.Report(Informed, o.Ref.String()+" stays terminating, held by kubernetes alone")
			}
		}
	}
}

// excused reports whether something else than finalizers of running controllers
// keeps an object that is being deleted: a finalizer of nobody here, a grace
// period that nobody here ends, what the finalizer is there to wait for, or, of what
// waits for others, one of those.
// Those on the way that are asked about already do not excuse each other.
func (j *Judge) excused(o *Object, way []*Object) bool {
	if slices.Contains(way, o) {
		return false
	}
	if len(way) > 0 && !meta.Deleting(o.Meta) {
		return !j.resolvable(o) // whoever is to begin holds it; where an owner is nowhere (GC-7) nobody is
	}
	way = append(way, o)
	finalizers := o.Meta.GetFinalizers()
	if o.Ref.Kind == "Namespace" && len(finalizers) == 0 {
		return !j.state.drained() || j.state.keptByOthers(o) || j.anyExcusedIn(o.Ref.Name, way)
	}
	if len(finalizers) == 0 {
		return true
	}
	for _, f := range finalizers {
		if !j.state.managed(f) || j.state.kept(o, f) || f == metav1.FinalizerDeleteDependents &&
			j.anyExcusedBlocking(o, way) {
			return true
		}
	}
	return false
}

func (j *Judge) anyExcusedBlocking(o *Object, way []*Object) bool {
	uid := o.Meta.GetUID()
	for _, d := range j.state.Dependents(uid) {
		if meta.Blocks(meta.RefTo(d.Meta, uid)) && j.excused(d, way) {
			return true
		}
	}
	return false
}

func (j *Judge) anyExcusedIn(namespace string, way []*Object) bool {
	for _, l := range j.state.kinds {
		for _, o := range l.objects {
			if o.Ref.Namespace == namespace && l.kind != "Event" && j.excused(o, way) {
				return true
			}
		}
	}
	return false
}

// SameEnd is the clause that a world breaks which settles otherwise than in a quiet run of the same actions.
const SameEnd = "EXACT-13"

// ComeToRest is the clause that a world breaks which does not settle.
const ComeToRest = "EXACT-7"

// Disturbed is the Reason of an Unsettled record about a world that is not left
// alone: a process is down, or kept from seeing.
const Disturbed = "disturbed"

// comeToRest is EXACT-7: whoever runs the world writes an Unsettled record when
// it gives up waiting.
func comeToRest(j *Judge, r *sim.Record) {
	j.askEach()
	if r.Op != sim.Settled && r.Reason != Disturbed {
		j.Report(Informed, r.Message)
	}
}

// neverPanic is EXACT-7b. Of a program the history has how it ended, and a rest that it came to
// without.
func neverPanic(j *Judge, r *sim.Record) {
	switch r.Op {
	case sim.Settled:
		for _, p := range j.state.processes {
			if p.Actor.opaque() == 1 && p.works() {
				j.actor = p
				j.Ask()
			}
		}
	case sim.FaultHit:
		if why, is := strings.CutPrefix(r.Reason, sim.Panicked); is {
			j.Ask()
			j.Report(Informed, why)
		}
	default:
		j.Ask()
		if r.Reason == "panic" {
			j.Report(Informed, r.Message)
		}
	}
}
