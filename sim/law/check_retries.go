// Check of WRITE-8 for dependents that fail.

package law

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// replacesAgain reports that a failed dependent is replaced less than a second after the one before it. The time
// counts from the start of the sync of the first replacement.
func (j *Judge) replacesAgain(r *sim.Record) {
	w := &j.write
	if w.Actor == nil || w.Actor.RetryOf == nil || !w.Dependent || !w.Mine || !w.Deletes {
		return
	}
	k, p := w.counting(r), w.process
	if k == nil {
		return
	}
	seen, late := r.Saw, false
	if seen == nil {
		seen = r.Before
	}
	what := w.Actor.RetryOf(objectOf(r.SawFor), objectOf(seen), func(kind string) []runtime.Object {
		late = late || p.Cache(kind).Changed > k.begun
		return p.Cache(kind).Values()
	})
	if what == "" || late {
		return
	}
	j.Ask()
	maps.DeleteFunc(p.tried, func(_ try, at time.Duration) bool { return r.At-at >= view.Brief })
	of := try{k.owner, what}
	if at, again := p.tried[of]; again {
		j.Report(Informed, "replaced though it has failed, as the one before it "+(r.At-at).String()+" ago")
	}
	if p.tried == nil {
		p.tried = map[try]time.Duration{}
	}
	p.tried[of] = k.at
}
