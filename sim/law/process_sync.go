// A worker's sync: its start, its live reads and its refused requests.

package law

import (
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

func (p *process) start(r *sim.Record) {
	k := p.work(r)
	if k == nil {
		return
	}
	*k = work{begun: r.Index, at: r.At, owner: types.UID(r.For.UID), key: view.KeyOf(r.For), busy: true}
	k.began = p.known.Active(k.owner)
	p.eitherWay(k)
	if p.Actor.MaxActive != nil {
		for _, e := range p.known.Members(k.owner) {
			if e.Active && !e.Ahead {
				k.shown++
			}
		}
	}
	if p.Actor.Counted != nil {
		for _, gvk := range p.Actor.Owns {
			kind := gvk.Kind
			k.counted += p.Cache(kind).Owned(k.owner)
		}
	}
	if p.Actor.For.Kind != "" {
		p.queue.Start(k.key, r.At)
	}
}

// countsRead notes that a worker may count a dependent that it has read live and that its cache does not show.
func (p *process) countsRead(r *sim.Record, found metav1.Object) {
	k := p.work(r)
	if k == nil || found == nil || !p.manages(r.Object.Kind) {
		return
	}
	if c := meta.ControllerOf(found); c == nil || c.UID != k.owner {
		return
	}
	c := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name)
	if c == nil || c.Meta.GetUID() != found.GetUID() {
		k.counted++
	}
}

// answered notes what a process learnt from a live read or a refusal.
func (p *process) answered(s *State, r *sim.Record) {
	if r.Op == sim.Refusal && r.Verb != "get" {
		p.refused(s, r)
		return
	}
	if k := p.work(r); k != nil && r.Verb == "list" {
		k.counted = math.MaxInt / 2 // it may count what the list shows
		k.listed = k.listed || p.manages(r.Object.Kind) || p.Actor.FinalizerReason != nil
		if p.manages(r.Object.Kind) {
			p.lists(s, r, k)
		}
		k.used = p.used(s)
	}
	found := meta.Of(r.After)
	if found != nil {
		p.told(r)
	}
	if r.Verb != "get" {
		// A write without effect, such as a repeated adoption.
		if k := p.work(r); k != nil && found != nil && p.manages(r.Object.Kind) {
			if c := meta.ControllerOf(found); c != nil && c.UID == k.owner {
				k.counted++
				if p.takesFor(found.GetUID(), k) {
					k.more++
				}
			}
		}
		return
	}
	p.countsRead(r, found)
	if p.lookups != nil && (found != nil || r.Code == 404) {
		l := lookup{record: r.Index}
		if found != nil {
			l.uid, l.waiting = found.GetUID(), meta.Foreground(found)
		}
		p.lookups[coords{r.Object.Kind, r.Object.Namespace, r.Object.Name}] = l
	}
	if r.Object.Kind == r.For.Kind && r.Object.Name == r.For.Name && r.Object.Namespace == r.For.Namespace {
		if k := p.work(r); k != nil {
			k.read = true
			k.refuses = found == nil || string(found.GetUID()) != r.For.UID || meta.Deleting(found)
			if k.live = ""; found != nil && !meta.Deleting(found) {
				k.live = found.GetUID()
			}
		}
	}
}

// used returns the terminating objects that the actor's finalizers hold and that are in use.
func (p *process) used(s *State) (all []types.UID) {
	if p.Actor.FinalizerReason == nil {
		return nil
	}
	for _, l := range s.kinds {
		for _, o := range l.objects {
			held := slices.ContainsFunc(p.Actor.Finalizers, func(f string) bool { return meta.Finalized(o.Meta, f) })
			if held && meta.Deleting(o.Meta) && p.Actor.FinalizerReason(objectOf(o.Value), s.values) != "" {
				all = append(all, o.Meta.GetUID())
			}
		}
	}
	return all
}

// lists notes what a live list may have shown about the owner's dependents: new ones that exist, and known ones
// that do not. If its options left some out, the range of counts that the worker may have used is larger than
// needed.
func (p *process) lists(s *State, r *sim.Record, k *work) {
	if k.owner == "" {
		return
	}
	for _, o := range s.Dependents(k.owner) {
		if o.Ref.Kind != r.Object.Kind || !s.isActiveOf(&p.Actor, k.owner, o) {
			continue
		}
		if e := p.known.ByUID[o.Meta.GetUID()]; e == nil || !e.Active || e.Owner != k.owner {
			k.more++
		}
	}
	for _, e := range p.known.Members(k.owner) {
		if e.Kind != r.Object.Kind || !e.Active {
			continue
		}
		if o := s.Object(e.UID); o == nil || !s.isActiveOf(&p.Actor, k.owner, o) {
			k.fewer++
		}
	}
}

// refused notes a refused write. The refusal may say that a dependent is gone, except for a creation, where the
// name is in use. A refused release of an object that is gone or recreated must not fail the sync (ORPHAN-2).
func (p *process) refused(s *State, r *sim.Record) {
	k := p.work(r)
	if k == nil {
		return
	}
	if p.manages(r.Object.Kind) && r.Verb != "create" && (r.Code == 404 || r.Code == 409 || r.Code == 422) {
		k.missed++
	}
	if p.lostRelease(s, r) {
		k.release = r.Message
		return
	}
	k.refused = true
}

func (p *process) lostRelease(s *State, r *sim.Record) bool {
	saw := meta.Of(r.Saw)
	if r.Verb != "patch" && r.Verb != "update" || saw == nil || !p.manages(r.Object.Kind) || r.SawFor == nil ||
		p.Actor.Selector == nil {
		return false
	}
	own := meta.ControllerOf(saw)
	if own == nil || string(own.UID) != r.For.UID || s.Selects(&p.Actor, r.SawFor, saw) {
		return false
	}
	live := s.Named(r.Object.Kind, saw.GetNamespace(), saw.GetName())
	return r.Code == 404 || r.Code == 422 && (live == nil || live.Meta.GetUID() != saw.GetUID())
}
