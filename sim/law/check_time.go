// Invariants at the deletion of what is no dependent, as TTL-1: what is deleted when its time is over.

package law

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// inTime asks an invariant of the deletion of what is no dependent, as TTL-1: it comes at its time and not before.
// Committed where what the actor was shown was to go, as when somebody has given it more time since.
func (j *Judge) inTime(v *Invariant, r *sim.Record) {
	w := &j.write
	if !w.Deletes || r.Before == nil {
		return
	}
	j.Ask()
	why := j.ask(v, w.facts(r, r.Before, j.state.values, j.state.get))
	if why == "" {
		return
	}
	strength := Informed
	if r.Saw != nil && j.ask(v, w.facts(r, r.Saw, j.state.values, j.state.get)) == "" {
		strength = Committed
	}
	j.Report(strength, why)
}

// overdue asks an invariant once all has settled of a controller that syncs no kind of its own. Objects that the server
// forbids somebody to delete are left out, and so are those that are being deleted.
func (j *Judge) overdue(id string, r *sim.Record) {
	for _, p := range j.state.processes {
		v := p.Actor.settled(id)
		if v == nil || p.Actor.For.Kind != "" || !p.works() || !j.binds(&p.Actor) {
			continue
		}
		j.actor = p
		if v.When == WhenSettled { // what goes at its time need not be asked about what stays
			j.Ask()
		}
		what := j.ask(v, &Facts{Now: sim.Epoch.Add(r.At), Forever: r.Reason != CutShort, Get: j.state.get,
			All: func(kind string) (all []runtime.Object) {
				for _, o := range j.state.Kind(kind) {
					if _, spared := j.state.spared[o.Meta.GetUID()]; !spared && !meta.Deleting(o.Meta) {
						all = append(all, objectOf(o.Value))
					}
				}
				return all
			}})
		if what != "" {
			if v.When != WhenSettled {
				j.Ask()
			}
			j.Report(Informed, what)
		}
	}
}
