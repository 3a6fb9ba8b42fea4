// Check of NS-1.

package law

import (
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// drainFirst checks NS-1.
func drainFirst(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.stuckDraining()
		return
	}
	w := &j.write
	if w.process == nil || w.process.Actor.Controller != drainer {
		return
	}
	j.Ask()
	switch ns := r.Object.Namespace; {
	case r.Object.Kind == "Namespace":
		if left := j.state.anyIn(r.Object.Name); w.After == nil && left != nil {
			j.Report(Informed, "let go while "+left.Ref.String()+" is in it")
		} else if !meta.Deleting(w.Before) {
			j.Report(Informed, "finalized though nobody deletes it")
		}
	case ns == "" || !w.Deletes:
	default:
		o := j.state.Named("Namespace", "", ns)
		if o == nil || !meta.Deleting(o.Meta) {
			j.Report(Informed, "deleted though nobody deletes its namespace")
		} else if pod := j.state.firstIn("Pod", ns); pod != nil && r.Object.Kind != "Pod" {
			j.Report(Informed, "deleted while "+pod.Ref.String()+" is still there")
		}
	}
}

// stuckDraining reports empty namespaces that stay terminating.
func (j *Judge) stuckDraining() {
	for _, p := range j.state.processes {
		if p.Actor.Controller != drainer || !p.works() {
			continue
		}
		j.actor = p
		for _, o := range j.state.Kind("Namespace") {
			if !meta.Deleting(o.Meta) || j.state.keptByOthers(o) {
				continue
			}
			j.Ask()
			if j.state.anyIn(o.Ref.Name) == nil {
				j.Report(Informed, o.Ref.String()+" stays although nothing is in it")
			}
		}
		return
	}
}

// firstIn returns an object of a kind in a namespace, or nil.
func (s *stored) firstIn(kind, namespace string) *Object {
	for _, o := range s.Kind(kind) {
		if o.Ref.Namespace == namespace {
			return o
		}
	}
	return nil
}

// anyIn returns any object in a namespace, or nil. Events do not count.
func (s *stored) anyIn(namespace string) *Object {
	for _, l := range s.kinds {
		if l.kind == "Event" {
			continue
		}
		if o := s.firstIn(l.kind, namespace); o != nil {
			return o
		}
	}
	return nil
}
