// Checks of EXACT-6, EXACT-7 and EXACT-7b on the settled world.

package law

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// nothingStays checks EXACT-6: no object may stay terminating if all processes responsible for its finalizers are
// running with active watches.
func nothingStays(j *Judge, r *sim.Record) {
	if r.Op == sim.Commit {
		if w := &j.write; w.process != nil && w.Before != nil && len(w.Before.GetFinalizers()) > 0 &&
			(w.After == nil || len(w.After.GetFinalizers()) < len(w.Before.GetFinalizers())) {
			j.Exercise()
		}
		return
	}
	for o := range j.state.each {
		if !meta.Deleting(o.Meta) {
			continue
		}
		if j.excused(o, nil) {
			continue
		}
		j.Exercise()
		if f := o.Meta.GetFinalizers(); len(f) > 0 {
			j.Report(Informed, o.Ref.String()+" stays terminating, held by "+strings.Join(f, " and ")+" alone")
		} else if o.Ref.Kind == "Namespace" {
			j.Report(Informed, o.Ref.String()+" stays terminating, held by kubernetes alone")
		}
	}
}

// excused reports whether a terminating object may stay. It may stay because of a finalizer that no running controller
// manages, a grace period, a condition that a finalizer waits for, or another object that may stay. Two objects that
// only wait for each other may not stay, so the list way contains the objects that are being checked already.
func (j *Judge) excused(o *Object, way []*Object) bool {
	if slices.Contains(way, o) {
		return false
	}
	if len(way) > 0 && !meta.Deleting(o.Meta) {
		return !j.resolvable(o) // the garbage collector deletes o, unless it cannot resolve an owner of o
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
	for o := range j.state.each {
		if o.Ref.Namespace == namespace && o.Ref.Kind != "Event" && j.excused(o, way) {
			return true
		}
	}
	return false
}

// comeToRest checks EXACT-7: an Unsettled record is a violation, unless its reason is [Disturbed].
func comeToRest(j *Judge, r *sim.Record) {
	j.askEach()
	if r.Op != sim.Settled && r.Reason != Disturbed {
		j.Report(Informed, r.Message)
	}
}

// neverPanic checks EXACT-7b. The law is exercised by the end of each reconcile, by each panic of a program, and by
// each program that runs when the world has settled.
func neverPanic(j *Judge, r *sim.Record) {
	switch r.Op {
	case sim.Settled:
		for _, p := range j.state.processes {
			if p.Actor.opaque() == 1 && p.works() {
				j.actor = p
				j.Exercise()
			}
		}
	case sim.FaultHit:
		if why, is := strings.CutPrefix(r.Reason, sim.Panicked); is {
			j.Exercise()
			j.Report(Informed, why)
		}
	default:
		j.Exercise()
		if r.Reason == "panic" {
			j.Report(Informed, r.Message)
		}
	}
}
