// A process's cache and the answers to its own requests may differ. A worker may use either.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// tookFor reports whether an object that is inactive by the answer to a write was active when the actor read it.
func (p *process) tookFor(r *sim.Record, e *view.Sight) bool {
	saw := meta.Of(r.Saw)
	return e.Value != nil && !(meta.Deleting(e.Meta) && e.Removed) && saw != nil && p.Actor.counts(r.Saw, saw)
}

// eitherWay adjusts the counts of a worker that starts a sync while its cache does not show yet what the process
// adopted or released. The worker may use either. It must remember what the process created and deleted, as
// expectations do. Upstream's consistency store does not note releases either (RULES D47).
func (p *process) eitherWay(k *work) {
	for _, e := range p.known.Ahead {
		if e.Cached == nil || e.Value == nil || meta.Deleting(e.Meta) && e.Removed || !p.manages(e.Kind) {
			continue
		}
		m := meta.Of(e.Cached)
		ref := meta.ControllerOf(m)
		counts := p.Actor.counts(e.Cached, m)
		was := ref != nil && ref.UID == k.owner
		orphan := ref == nil && e.Owner == k.owner // the cache does not show its adoption yet
		switch is := e.Active && e.Owner == k.owner; {
		case !is && counts && (was || orphan):
			k.more++
		case is && !(was && counts):
			k.fewer++
		}
	}
}

// takesFor reports whether a worker may count an object that it adopted twice: its cache showed an active orphan at
// some moment of the sync.
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

// countsStill reports whether an object is active by the process's cache and inactive by an answer. A controller
// does not look in answers for changes by others, such as a deletion.
func (p *process) countsStill(e *view.Sight, m metav1.Object) bool {
	return !(meta.Deleting(m) && e.Removed) && e.Cached != nil && p.Actor.counts(e.Cached, meta.Of(e.Cached))
}
