package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// tookFor reports whether an object that does not count, as the answer to a write
// shows, did so when the actor read it.
func (p *Process) tookFor(r *sim.Record, e *sight) bool {
	saw := meta(r.Saw)
	return e.value != nil && !(deleting(e.meta) && e.removed) && saw != nil && p.Subject.counts(r.Saw, saw)
}

// eitherWay gives a worker that begins the benefit of the doubt where its cache
// does not show yet what the process itself adopted or released: it may go by
// either. What it created and what it deleted it is to remember, as expectations
// do (upstream's consistency store, too, takes no note of releases: RULES D47).
func (p *Process) eitherWay(k *work) {
	for _, e := range p.known.ahead {
		if e.cached == nil || e.value == nil || deleting(e.meta) && e.removed || !p.manages(e.kind) {
			continue
		}
		m := meta(e.cached)
		ref := controllerOf(m)
		was := ref != nil && ref.UID == k.owner && p.Subject.counts(e.cached, m)
		switch is := e.active && e.owner == k.owner; {
		case was && !is:
			k.more++
		case is && !was:
			k.fewer++
		}
	}
}

// countsStill reports whether an object counts by the cache of a process that an
// answer of the server tells otherwise. Nobody looks there for what others do to
// his objects, a deletion that is not his own included.
func (p *Process) countsStill(e *sight, m metav1.Object) bool {
	return !(deleting(m) && e.removed) && e.cached != nil && p.Subject.counts(e.cached, meta(e.cached))
}
