// The checks of TTL-1: what is deleted when its time is over.

package law

import (
	"time"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// inTime is TTL-1: who deletes what others have made when its time is over does so then and
// not before. Committed where what it was shown was to go, as when somebody has given it more
// time since.
func inTime(j *Judge, r *sim.Record) {
	if r.Op == sim.Settled {
		j.overdue(r)
		return
	}
	w, now := &j.write, sim.Epoch.Add(r.At)
	if w.process == nil || w.process.Actor.Stays == nil || !w.Deletes || r.Before == nil {
		return
	}
	j.Ask()
	why := w.process.Actor.Stays(objectOf(r.Before), now)
	if why == "" {
		return
	}
	strength := Informed
	if r.Saw != nil && w.process.Actor.Stays(objectOf(r.Saw), now) == "" {
		strength = Committed
	}
	j.Report(strength, why)
}

// lifetime is longer than anything is kept for a while: a Job says how long in a number of seconds
// that goes up to 68 years.
const lifetime = 100 * 365 * 24 * time.Hour

// overdue reports what is still there at rest though its time is over, or will be: where the clock
// has not cut it short, nobody waits for that any more.
func (j *Judge) overdue(r *sim.Record) {
	now, what := sim.Epoch.Add(r.At), " is still there, and its time is over"
	if r.Reason != CutShort {
		now, what = now.Add(lifetime), " is there for ever: nobody waits for its time to be over"
	}
	for _, p := range j.state.processes {
		if p.Actor.Stays == nil || !p.works() || !j.binds(&p.Actor) {
			continue
		}
		j.actor = p
		for i := range p.caches {
			for _, o := range j.state.Kind(p.caches[i].Kind) {
				// What stays for good is not asked about: a yes to that says nothing.
				_, spared := j.state.spared[o.Meta.GetUID()]
				if spared || meta.Deleting(o.Meta) || p.Actor.Stays(objectOf(o.Value), now) != "" {
					continue
				}
				j.Ask()
				j.Report(Informed, o.Ref.String()+what)
			}
		}
	}
}
