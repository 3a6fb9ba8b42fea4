// Functions that update the state and the processes with each record.

package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

func (s *State) fold(r *sim.Record, p *process, w *Write) {
	switch r.Op {
	case sim.Commit:
		s.orphanings.fold(&s.stored, r, w)
		s.missingNamed.fold(&s.stored, r, w)
		s.everOwned.fold(s, r, w)
		s.put(r.Object.Kind, r.After, w.Before, w.After, w.maker())
		s.noteBare(r, w)
		s.recentlyDeleted.fold(r)
		s.uncertainCounts.fold(s, r, w)
		s.forbidden.fold(r)
		s.spared.fold(r)
		s.deletedSinceSettled.fold(w.Before, w.Deletes || w.After == nil)
		if s.byProcess[r.Process] == nil && r.Process != Server { // the user, or another client without an actor
			s.newEpoch()
		}
		if r.Process == User && !w.Deletes {
			note(s.others, w)
		}
		for _, p := range s.processes {
			p.noteWrite(r, w)
		}
	case sim.FaultHit:
		s.foldFault(r)
	case sim.Settled:
		s.rest(r)
	case sim.Delivery, sim.SyncStart, sim.SyncEnd, sim.Read, sim.Refusal:
		if p != nil {
			p.fold(s, r)
		}
	}
}

// rest handles a Settled record. Unless the record is [CutShort], each working process has received all events.
func (s *State) rest(r *sim.Record) {
	if r.Reason == CutShort {
		return
	}
	clear(s.deletedSinceSettled)
	for _, p := range s.processes {
		p.settled = p.works()
	}
}

// noteBare notes that an object was created without a reference to the reconciled object.
func (s *State) noteBare(r *sim.Record, w *Write) {
	if w.Actor == nil || w.Before != nil || w.After == nil || r.SawFor == nil || string(meta.Of(r.SawFor).GetUID()) !=
		w.For.UID || meta.RefTo(w.After, uidOf(w.For)) != nil {
		return
	}
	s.Object(w.After.GetUID()).bare = bareness{uidOf(w.For), meta.Of(r.SawFor).GetGeneration()}
}

func (s *State) clothe() {
	for _, l := range s.kinds {
		for _, o := range l.objects {
			o.bare = bareness{}
		}
	}
}

func (s *State) newEpoch() {
	s.epoch++
	s.restarted = false
}

func (s *State) foldFault(r *sim.Record) {
	switch r.Verb {
	case "switch", "downgrade", "upgrade":
		s.newEpoch()
		s.clothe()
	case "crash", "restart":
		s.restarted = true
	}
	if r.Process == Server {
		s.dropping = r.Verb == "downgrade"
	}
	if p := s.byProcess[r.Process]; p != nil {
		p.foldFault(r)
	}
}

func (p *process) fold(s *State, r *sim.Record) {
	if r.Incarnation > p.incarnation {
		p.restart(r.Incarnation)
	}
	switch r.Op {
	case sim.Delivery:
		p.deliver(r)
	case sim.SyncStart:
		p.start(r)
	case sim.SyncEnd:
		if k := p.work(r); k != nil {
			p.lookedAt(k, r)
			k.owner, k.busy, k.begun = "", false, 0
		}
		if p.Actor.For.Kind != "" && r.Incarnation == p.incarnation {
			p.queue.End(view.KeyOf(r.For), r.Message != "", r.At)
		}
	case sim.Read, sim.Refusal:
		p.answered(s, r)
		s.forbidden.refused(r, p.Actor.Opaque && p.manages(r.Object.Kind))
		s.spared.spared(r)
	}
}

func (p *process) foldFault(r *sim.Record) {
	switch r.Verb {
	case "crash":
		p.down, p.wasOff = true, true
		p.restart(max(p.incarnation+1, r.Incarnation))
	case "stop":
		p.stopped = true
		p.restart(max(p.incarnation+1, r.Incarnation))
	case "restart", "switch": // in both cases, the process starts with empty caches and active watches
		p.down, p.stopped, p.wasOff = false, false, true
		p.held = p.held[:0]
		if r.Incarnation > p.incarnation {
			p.restart(r.Incarnation)
		}
	case "hold":
		p.wasOff = true
		if !slices.Contains(p.held, r.Object.Kind) {
			p.held = append(p.held, r.Object.Kind)
		}
	case "release":
		p.held = slices.DeleteFunc(p.held, func(k string) bool { return r.Object.Kind == "" || k == r.Object.Kind })
	case "relist":
		p.wasOff = true
		p.gap(r.Object.Kind, r.Index)
	case "synced":
		p.synced = true
	}
}

// lookedAt notes a successful reconcile that began after the last delivery, for [Facts].Reconciled.
func (p *process) lookedAt(k *work, r *sim.Record) {
	if !p.Actor.looks() || !k.busy || k.begun < p.news || r.Message != "" {
		return
	}
	if p.looked == nil {
		p.looked = map[view.Key]bool{}
	}
	p.looked[k.key] = true
}

func (p *process) deliver(r *sim.Record) {
	p.news = r.Index
	clear(p.looked)
	if r.Version < p.version && r.Object.Kind != p.kind {
		p.reordered = true
	}
	if r.Version >= p.version {
		p.version, p.kind = r.Version, r.Object.Kind
	}
	if len(p.createdUnseen) > 0 {
		p.createdUnseen.shown(r.Object)
	}
	c := p.Cache(r.Object.Kind)
	before, after := c.Fold(r, r.Object.Kind == p.Actor.For.Kind)
	if len(p.cut) > 0 {
		p.shownCut(before, after)
	}
	if p.Actor.Counted != nil && p.manages(r.Object.Kind) {
		p.recount(c, meta.ControllerOf(before), meta.ControllerOf(after))
	}
	if p.follows(r.Object.Kind) {
		p.shown(r)
	}
	if r.Object.Kind == p.Actor.For.Kind && before == nil {
		p.meet(view.KeyOf(r.Object))
	}
	// another UID under the same name means a deletion, which a relist may have hidden
	if m := meta.Of(r.Before); p.gone != nil && m != nil && (after == nil || after.GetUID() != m.GetUID()) {
		p.gone[m.GetUID()] = true
	}
	if p.Actor.For.Kind != "" {
		for _, key := range r.Enqueued {
			p.queue.Add(key)
		}
	}
}

// recount updates the cache's counts when a dependent gets another owner. It also updates the workers of the new owner.
func (p *process) recount(c *view.Cache, old, now *metav1.OwnerReference) {
	if meta.SameRef(old, now) {
		return
	}
	c.Recount(old, now)
	if now != nil {
		p.oneMore(now.UID)
	}
}

func (p *process) oneMore(owner types.UID) {
	for i := range p.workers {
		if p.workers[i].owner == owner {
			p.workers[i].counted++
		}
	}
}

// noteWrite updates the process after a commit of any process.
func (p *process) noteWrite(r *sim.Record, w *Write) {
	p.cuts(r, w)
	if p.Actor.For.Kind == "" {
		return
	}
	if p.Actor.Outside && r.Object.Kind == p.Actor.For.Kind {
		p.mayHaveSeen(w, r)
	}
	if r.Process != p.Actor.Process {
		if w.Owner != nil && w.Owner.Kind == p.Actor.For.Kind {
			p.disturbed = true
		}
		return
	}
	p.told(r)
	p.createdUnseen.note(p, r, w)
	p.gives(w)
	note(p.puts, w)
	if w.Before == nil && w.After != nil {
		for _, f := range w.After.GetFinalizers() {
			if !meta.ByPolicy(f) {
				p.includes[f] = true
			}
		}
	}
	if !p.synced && p.early < 0 && r.Incarnation == p.incarnation {
		p.early = r.Index
	}
	if w.NewOwner != nil && !meta.SameRef(w.Owner, w.NewOwner) {
		p.oneMore(w.NewOwner.UID)
	}
}

// gives notes the owner references that a write adds, except a reference to the reconciled object.
func (p *process) gives(w *Write) {
	if w.After == nil {
		return
	}
	for _, ref := range w.After.GetOwnerReferences() {
		if string(ref.UID) == w.For.UID || w.Before != nil && meta.RefTo(w.Before, ref.UID) != nil {
			continue
		}
		if p.gave == nil {
			p.gave = map[race]bool{}
		}
		p.gave[race{w.After.GetUID(), ref.UID}] = true
	}
}

// note adds to a set the finalizers that a write adds to an existing object, except orphan and foregroundDeletion. It
// ignores creations, because their finalizers may come from a template.
func note(finalizers map[string]bool, w *Write) {
	if w.Before == nil || w.After == nil {
		return
	}
	for _, f := range w.After.GetFinalizers() {
		if !meta.ByPolicy(f) && !meta.Finalized(w.Before, f) {
			finalizers[f] = true
		}
	}
}
