package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
		counts := p.Subject.counts(e.cached, m)
		was, orphan := ref != nil && ref.UID == k.owner, ref == nil && e.owner == k.owner // its adoption is yet to be shown
		switch is := e.active && e.owner == k.owner; {
		case !is && counts && (was || orphan):
			k.more++
		case is && !(was && counts):
			k.fewer++
		}
	}
}

// takesFor reports whether a worker may count an object that it has adopted once
// more, in vain, as its cache showed it at some moment of the sync: an orphan that
// counts.
func (p *Process) takesFor(uid types.UID, k *work) bool {
	n := &p.known
	e := n.byUID[uid]
	if e == nil || e.active && e.owner == k.owner {
		return false
	}
	orphan := func(value any) bool {
		m := meta(value)
		return m != nil && controllerOf(m) == nil && p.Subject.counts(value, m)
	}
	if orphan(e.cached) {
		return true
	}
	for i := range n.journal {
		if g := &n.journal[i]; g.uid == uid && g.record >= k.begun && (orphan(g.cached) || orphan(g.value)) {
			return true
		}
	}
	return false
}

// countsStill reports whether an object counts by the cache of a process that an
// answer of the server tells otherwise. Nobody looks there for what others do to
// his objects, a deletion that is not his own included.
func (p *Process) countsStill(e *sight, m metav1.Object) bool {
	return !(deleting(m) && e.removed) && e.cached != nil && p.Subject.counts(e.cached, meta(e.cached))
}
