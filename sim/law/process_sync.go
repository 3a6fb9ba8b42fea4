// A worker's reconcile: its start, its live reads and its refused requests. A worker may use the process's cache or
// the answers to its own requests, and the two may differ.

package law

import (
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
			k.counted += p.Cache(gvk.Kind).Owned(k.owner)
		}
	}
	if p.Actor.For.Kind != "" {
		p.queue.Start(k.key, r.At)
	}
}

// countsRead adds 1 to work.counted if a worker reads a dependent live, and the process's cache lacks this dependent.
func (p *process) countsRead(r *sim.Record, found metav1.Object) {
	k := p.work(r)
	if k == nil || found == nil || !p.manages(r.Object.Kind) {
		return
	}
	if !meta.ControlledBy(found, k.owner) {
		return
	}
	c := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name)
	if c == nil || c.Meta.GetUID() != found.GetUID() {
		k.counted++
	}
}

// answered updates the process after a live read or a refusal.
func (p *process) answered(s *State, r *sim.Record) {
	if r.Op == sim.Refusal && r.Verb != "get" {
		p.refused(s, r)
		return
	}
	if k := p.work(r); k != nil && r.Verb == "list" {
		k.counted = math.MaxInt / 2 // the worker may count everything that the list contains
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
	if p.Actor.moments != 0 && (r.Verb == "get" || r.Verb == "list") {
		p.Cache(r.Object.Kind).Live = true
	}
	if r.Verb != "get" {
		// the record is a write without effect, such as a repeated adoption
		if k := p.work(r); k != nil && found != nil && p.manages(r.Object.Kind) {
			if meta.ControlledBy(found, k.owner) {
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

// used returns the terminating objects that are in use and have a finalizer of the actor.
func (p *process) used(s *State) (all []types.UID) {
	if p.Actor.FinalizerReason == nil {
		return nil
	}
	for o := range s.each {
		held := slices.ContainsFunc(p.Actor.Finalizers, func(f string) bool { return meta.Finalized(o.Meta, f) })
		if held && meta.Deleting(o.Meta) && p.Actor.FinalizerReason(objectOf(o.Value), s.values) != "" {
			all = append(all, o.Meta.GetUID())
		}
	}
	return all
}

// lists widens the range from work.fewest to work.most after a list from the server. The list may contain dependents
// that the process did not know, and lack dependents that it knew. For a list with a selector, the range becomes wider
// than necessary.
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

// refused updates a worker after a refused write. The refusal may tell the worker that a dependent is gone. If a
// release is refused because the object was deleted or recreated, the reconcile must not fail (ORPHAN-2).
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
	if !meta.ControlledBy(saw, uidOf(r.For)) || s.Selects(&p.Actor, r.SawFor, saw) {
		return false
	}
	live := s.Named(r.Object.Kind, saw.GetNamespace(), saw.GetName())
	return r.Code == 404 || r.Code == 422 && (live == nil || live.Meta.GetUID() != saw.GetUID())
}

// tookFor reports whether a worker may count an object that its own write r showed as inactive. The worker may if it
// had read the object as active before, and if the process has not requested the deletion.
func (p *process) tookFor(r *sim.Record, e *view.Sight) bool {
	saw := meta.Of(r.Saw)
	return e.Value != nil && !(meta.Deleting(e.Meta) && e.Removed) && saw != nil && p.Actor.counts(r.Saw, saw)
}

// eitherWay widens the range from work.fewest to work.most if the cache does not yet show the process's own adoptions
// and releases. The worker may count the dependents as before or after these writes: it must remember only creations
// and deletions, as expectations do. kube-controller-manager's consistency store does not remember releases either
// (RULES D47).
func (p *process) eitherWay(k *work) {
	for _, e := range p.known.Ahead {
		if e.Cached == nil || e.Value == nil || meta.Deleting(e.Meta) && e.Removed || !p.manages(e.Kind) {
			continue
		}
		m := meta.Of(e.Cached)
		ref := meta.ControllerOf(m)
		counts := p.Actor.counts(e.Cached, m)
		was := ref != nil && ref.UID == k.owner
		orphan := ref == nil && e.Owner == k.owner // adopted, but the cache still shows an orphan
		switch is := e.Active && e.Owner == k.owner; {
		case !is && counts && (was || orphan):
			k.more++
		case is && !(was && counts):
			k.fewer++
		}
	}
}

// takesFor reports whether a worker may count an adopted object as one more dependent. This is so if the process's cache
// showed this object as active and without a controller at some moment of the reconcile.
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

// countsStill reports whether the cache shows an object as active although an answer shows it as inactive. Then the
// object counts, because controllers do not search answers for changes by others, such as a deletion. If the process
// itself has requested the deletion, the result is false.
func (p *process) countsStill(e *view.Sight, m metav1.Object) bool {
	return !(meta.Deleting(m) && e.Removed) && e.Cached != nil && p.Actor.counts(e.Cached, meta.Of(e.Cached))
}

// createdUnseen holds objects that a process has created, but not yet received in an event. They are of kinds that
// p.known does not contain. The process assumes that they exist, and may be wrong (needed-objects-exist).
type createdUnseen []created

type created struct {
	at    coords
	value runtime.Object // the object in the answer to the creation
}

func (m *createdUnseen) note(p *process, r *sim.Record, w *Write) {
	if p.Actor.moments&BeforeCreate == 0 || w.Before != nil || w.After == nil || r.Incarnation != p.incarnation ||
		p.follows(r.Object.Kind) {
		return
	}
	m.shown(r.Object)
	*m = append(*m, created{coordsOf(r.Object), objectOf(r.After)})
}

func (m *createdUnseen) shown(what sim.Ref) {
	at := coordsOf(what)
	*m = slices.DeleteFunc(*m, func(x created) bool { return x.at == at })
}

// gap removes the objects of a kind that was listed again. During a reconcile it removes nothing.
func (m *createdUnseen) gap(p *process, kind string) {
	if slices.ContainsFunc(p.workers, func(k work) bool { return k.busy }) {
		return
	}
	*m = slices.DeleteFunc(*m, func(x created) bool { return x.at.kind == kind })
}

func (m createdUnseen) of(kind string) (all []runtime.Object) {
	for _, x := range m {
		if x.at.kind == kind {
			all = append(all, x.value)
		}
	}
	return all
}

func (m createdUnseen) digest() (sum uint64) {
	for _, x := range m {
		var h sim.Hash
		h.String(x.at.kind)
		h.String(x.at.namespace)
		h.String(x.at.name)
		sum += sim.Mix(uint64(h))
	}
	return sum
}

func coordsOf(r sim.Ref) coords { return coords{r.Kind, r.Namespace, r.Name} }

// try names the work that is retried when a failed dependent of the owner is replaced ([Contract].RetryOf).
type try struct {
	owner types.UID
	what  string
}

func digestTries(tried map[try]time.Duration, now time.Duration) uint64 {
	var sum uint64
	for t, at := range tried { //detcheck:ordered a sum
		if now-at < view.Brief {
			var h sim.Hash
			h.String(string(t.owner))
			h.String(t.what)
			h.Word(uint64(now - at))
			sum += sim.Mix(uint64(h))
		}
	}
	return sum
}
