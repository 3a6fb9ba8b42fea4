// Where the cache of a process and the answers it was given differ, a worker has the
// benefit of the doubt: it may go by either.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// tookFor reports whether an object that does not count, as the answer to a write
// shows, did so when the actor read it.
func (p *process) tookFor(r *sim.Record, e *view.Sight) bool {
	saw := meta.Of(r.Saw)
	return e.Value != nil && !(meta.Deleting(e.Meta) && e.Removed) && saw != nil && p.Actor.counts(r.Saw, saw)
}

// eitherWay gives a worker that begins the benefit of the doubt where its cache
// does not show yet what the process itself adopted or released: it may go by
// either. What it created and what it deleted it is to remember, as expectations
// do (upstream's consistency store, too, takes no note of releases: RULES D47).
func (p *process) eitherWay(k *work) {
	for _, e := range p.known.Ahead {
		if e.Cached == nil || e.Value == nil || meta.Deleting(e.Meta) && e.Removed || !p.manages(e.Kind) {
			continue
		}
		m := meta.Of(e.Cached)
		ref := meta.ControllerOf(m)
		counts := p.Actor.counts(e.Cached, m)
		was := ref != nil && ref.UID == k.owner
		orphan := ref == nil && e.Owner == k.owner // its adoption is yet to be shown
		switch is := e.Active && e.Owner == k.owner; {
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
func (p *process) takesFor(uid types.UID, k *work) bool {
	n := &p.known
	e := n.ByUID[uid]
	if e == nil || e.Active && e.Owner == k.owner {
		return false
	}
	orphan := func(value any) bool {
		m := meta.Of(value)
		return m != nil && meta.ControllerOf(m) == nil && p.Actor.counts(value, m)
	}
	if orphan(e.Cached) {
		return true
	}
	for i := range n.Journal.Entries {
		if g := &n.Journal.Entries[i]; g.UID == uid && g.Record >= k.begun && (orphan(g.Cached) || orphan(g.Value)) {
			return true
		}
	}
	return false
}

// countsStill reports whether an object counts by the cache of a process that an
// answer of the server tells otherwise. Nobody looks there for what others do to
// his objects, a deletion that is not his own included.
func (p *process) countsStill(e *view.Sight, m metav1.Object) bool {
	return !(meta.Deleting(m) && e.Removed) && e.Cached != nil && p.Actor.counts(e.Cached, meta.Of(e.Cached))
}
