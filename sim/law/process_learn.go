// What a process learns about an object from deliveries and answers, how that changes the counts of its workers, and
// what it had been shown when it acted.

package law

import (
	"math"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// shown notes a delivery.
func (p *process) shown(r *sim.Record) {
	before, after := meta.Of(r.Before), meta.Of(r.After)
	if before != nil && (after == nil || after.GetUID() != before.GetUID()) {
		p.removed(before.GetUID(), r.Index)
	}
	if after != nil {
		if e := p.known.ByUID[after.GetUID()]; e != nil && e.Ahead {
			p.note(r.Index, e)
		}
		e := p.learn(r.Object.Kind, r.After, after, r.Index, nil)
		if e.Cached = r.After; e.Meta == after {
			p.known.Confirm(e)
		}
	}
}

// told notes the answer to a request of the process. A lost answer tells nothing.
func (p *process) told(r *sim.Record) {
	if r.Lost || r.Incarnation != p.incarnation || !p.follows(r.Object.Kind) {
		return
	}
	k, n := p.work(r), &p.known
	var e *view.Sight
	if before := meta.Of(r.Before); before != nil && strings.HasPrefix(r.Verb, "delete") {
		if e = n.ByUID[before.GetUID()]; e != nil {
			e.Removed = true
		}
	}
	if after := meta.Of(r.After); after != nil {
		e = p.learn(r.Object.Kind, r.After, after, r.Index, k)
	} else if before := meta.Of(r.Before); before != nil {
		if e = n.ByUID[before.GetUID()]; e != nil {
			p.set(e, nil, nil, r.Index, k) // kept: an older event about it may be on its way
		}
	}
	if e != nil && p.makes(r) {
		e.Made = r.Index
	}
	if e != nil && k != nil && k.owner != "" && e.Owner == k.owner && !e.Active && p.tookFor(r, e) {
		k.more++
	}
	if e != nil && !e.Ahead {
		e.Ahead = true
		n.Ahead = append(n.Ahead, e)
	}
}

// makes reports whether the process's write changes more of an object than its owners.
func (p *process) makes(r *sim.Record) bool {
	return p.Actor.bounds() && r.Op == sim.Commit && (r.Before == nil || r.After == nil ||
		meta.Deleting(meta.Of(r.After)) || !meta.SameBody(r.Before, r.After))
}

// gap forgets what is known from answers only about a kind that was listed again: what the list does not contain is
// gone, and no event will say so. Workers in a sync have known it until then.
func (p *process) gap(kind string, record int) {
	n := &p.known
	p.createdUnseen.gap(p, kind)
	for i := len(n.Ahead) - 1; i >= 0; i-- {
		if e := n.Ahead[i]; e.Kind == kind && e.Cached == nil {
			p.set(e, nil, nil, record, nil)
			delete(n.ByUID, e.UID)
			n.Confirm(e)
			p.Cache(kind).Changed = record
		}
	}
}

// learn notes a version of an object, unless a newer one is known. by is the worker that wrote it, nil for an
// event.
func (p *process) learn(kind string, value any, m metav1.Object, record int, by *work) *view.Sight {
	n, uid, version := &p.known, m.GetUID(), meta.Version(m)
	e := n.ByUID[uid]
	switch {
	case e == nil:
		e = n.Fresh()
		e.Kind, e.UID = kind, uid
		n.ByUID[uid] = e
	case e.Version > version && version != 0:
		return e
	}
	if len(n.Past) > 0 && n.Past[uid] <= version {
		delete(n.Past, uid)
	}
	p.set(e, value, m, record, by)
	e.Version = version
	p.raise(kind, uid, value)
	return e
}

// raise keeps the most dependents that a program was ever shown an owner to want. It is not known which version the
// program uses.
func (p *process) raise(kind string, uid types.UID, value any) {
	sub := &p.Actor
	if !sub.Opaque || kind != sub.For.Kind || sub.Replicas == nil && sub.MaxActive == nil {
		return
	}
	if p.roofs == nil {
		p.roofs = map[types.UID]int{}
	}
	if is, was := sub.mostAtOnce(value), p.roofs[uid]; is < 0 || was < 0 {
		p.roofs[uid] = -1
	} else {
		p.roofs[uid] = max(is, was)
	}
}

func (p *process) removed(uid types.UID, record int) {
	if e := p.known.ByUID[uid]; e != nil {
		p.set(e, nil, nil, record, nil)
		delete(p.known.ByUID, uid)
		delete(p.known.Past, uid)
		p.known.Confirm(e)
		*e = view.Sight{} // its memory is shared with other entries: drop the values
	}
}

// set changes what is known about an object, and adjusts the counts of the workers at its owner.
func (p *process) set(e *view.Sight, value any, m metav1.Object, record int, by *work) {
	n := &p.known
	p.note(record, e)
	owner, active := types.UID(""), false
	if m != nil && p.manages(e.Kind) {
		if ref := meta.ControllerOf(m); ref != nil {
			owner = ref.UID
		}
		active = p.Actor.counts(value, m) || by != nil && p.countsStill(e, m)
	}
	if owner != e.Owner || active != e.Active {
		n.Leave(e)
		p.moved(e.Owner, e.Active, -1, by)
		e.Since = record
		e.Owner, e.Active = owner, active
		n.Join(e)
		p.moved(owner, active, 1, by)
	}
	e.Value, e.Meta = value, m
}

// moved adjusts the workers' counts for an owner by one active dependent more or less.
func (p *process) moved(owner types.UID, active bool, by int, doer *work) {
	if owner == "" || !active {
		return
	}
	for i := range p.workers {
		k := &p.workers[i]
		switch {
		case k.owner != owner:
		case k == doer:
			k.own += by
		case by > 0:
			k.more++
		default:
			k.fewer++
		}
	}
}

// note keeps what was known about an object until now, while any worker is in a sync.
func (p *process) note(record int, e *view.Sight) {
	if !p.atWork() || e == nil {
		return
	}
	if p.known.Journal.Long() {
		p.known.Journal.Cut(p.oldestSync())
	}
	p.known.Journal.Note(e, record)
}

// oldestSync returns the record at which the oldest sync began, among current ones and ended ones whose last
// requests may still arrive.
func (p *process) oldestSync() int {
	oldest := math.MaxInt
	for _, list := range [][]work{p.workers, p.former} {
		for i := range list {
			if list[i].busy {
				oldest = min(oldest, list[i].begun)
			}
		}
	}
	return oldest
}

// atWork reports whether any worker is in a sync. If none is, the journal of changes starts again.
func (p *process) atWork() bool {
	for i := range p.workers {
		if p.workers[i].busy {
			return true
		}
	}
	p.known.Journal.Clear()
	return false
}

// mayHaveSeen notes a change of an object that an Outside program syncs. The program may have been shown either
// version. A deleted object is forgotten.
func (p *process) mayHaveSeen(w *Write, r *sim.Record) {
	switch {
	case w.After == nil:
		delete(p.roofs, w.Before.GetUID())
		return
	case w.Before != nil:
		p.raise(r.Object.Kind, w.Before.GetUID(), r.Before)
	}
	p.raise(r.Object.Kind, w.After.GetUID(), r.After)
}

// owners calls f with every version of its owner that the process knew during the worker's sync. The answer of a
// live read counts, even if a newer version or the deletion was delivered since.
func (p *process) owners(k *work, f func(owner any)) {
	if e := p.known.ByUID[k.owner]; e != nil && e.Value != nil {
		f(e.Value)
	}
	for i := range p.known.Journal.Entries {
		if g := &p.known.Journal.Entries[i]; g.UID == k.owner && g.Record > k.begun && g.Value != nil {
			f(g.Value)
		}
	}
}

// owns reports whether an owner controls an object, by what the process knows.
func (p *process) owns(object, owner types.UID) bool {
	e := p.known.ByUID[object]
	return e != nil && e.Owner == owner
}

// tookForOwn reports whether the record's worker may have taken an object for a dependent of an owner: by what the
// process knows, or has known since the sync began.
func (p *process) tookForOwn(r *sim.Record, object, owner types.UID) bool {
	k := p.work(r)
	return p.owns(object, owner) || k != nil && slices.ContainsFunc(p.known.Journal.Entries, func(g view.Glimpse) bool {
		return g.UID == object && g.Owner == owner && g.Record >= k.begun
	})
}

// sawGoing reports whether the collector's cache shows that an owner's deletion releases its dependents or waits
// for them.
func (p *process) sawGoing(owner *Object) bool {
	c := p.Cache(owner.Ref.Kind).Get(owner.Ref.Namespace, owner.Ref.Name)
	return c != nil && c.Meta.GetUID() == owner.Meta.GetUID() && (meta.Orphaning(c.Meta) || meta.Foreground(c.Meta))
}

// sawBefore returns a dependent's reference as the process had been shown it before it sent the record's request,
// or nil. If the record does not say when that was, it is when the sync began, and otherwise now.
func (p *process) sawBefore(r *sim.Record, o *Object, owner types.UID) *metav1.OwnerReference {
	c, k := p.Cache(o.Ref.Kind).Get(o.Ref.Namespace, o.Ref.Name), p.work(r)
	if c == nil || k == nil || c.Meta.GetUID() != o.Meta.GetUID() {
		return nil
	}
	left := r.Asked
	if left == 0 {
		left = k.begun
	}
	if left > 0 && c.Since >= left {
		return nil
	}
	return meta.RefTo(c.Meta, owner)
}

// knewTied is sawBefore for an existing reference. A cached reference that the process itself has removed says
// nothing about one that was added since.
func (p *process) knewTied(r *sim.Record, o *Object, owner types.UID) *metav1.OwnerReference {
	if slices.Contains(p.cut[o.Meta.GetUID()].owners, owner) {
		return nil
	}
	return p.sawBefore(r, o, owner)
}

// cut holds the references that a collector has removed from an object by a write that it has not been shown yet.
type cut struct {
	owners  []types.UID
	version uint64 // of the write
}

// cuts notes the references that a collector's write removed.
func (p *process) cuts(r *sim.Record, w *Write) {
	if !w.GC || w.process != p || r.Lost || r.Incarnation != p.incarnation || w.Before == nil || w.After == nil {
		return
	}
	uid := w.Before.GetUID()
	for _, ref := range w.Before.GetOwnerReferences() {
		if meta.RefTo(w.After, ref.UID) == nil {
			c := p.cut[uid]
			c.owners, c.version = append(c.owners, ref.UID), meta.Version(w.After)
			p.cut[uid] = c
		}
	}
}

// shownCut forgets an object's removed references once this version or a later one is shown.
func (p *process) shownCut(before, after metav1.Object) {
	if before != nil && (after == nil || after.GetUID() != before.GetUID()) {
		delete(p.cut, before.GetUID())
	}
	if after != nil && meta.Version(after) >= p.cut[after.GetUID()].version {
		delete(p.cut, after.GetUID())
	}
}

// tookForAnother reports whether the process knew another incarnation of the commit's object when its sync began.
func (p *process) tookForAnother(r *sim.Record, uid types.UID) bool {
	c, k := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name), p.work(r)
	return c != nil && (c.Meta.GetUID() != uid || k != nil && k.begun > 0 && c.Born > k.begun)
}

// knowsAbsent reports whether a collector knew that an owner is gone: by a live read in each namespace where it
// could be, or by the event of its deletion. To have read it as terminating suffices. A judge that has forgotten
// cannot deny it.
func (p *process) knowsAbsent(ref *metav1.OwnerReference, namespace string) bool {
	if p.forgot || p.gone[ref.UID] || p.readWaiting(ref, namespace) {
		return true
	}
	for _, ns := range [2]string{namespace, ""} {
		if l, ok := p.lookups[coords{ref.Kind, ns, ref.Name}]; ok && l.uid != ref.UID {
			return true
		}
	}
	return false
}

// readWaiting reports whether the collector's last live read of an owner found it waiting for its dependents.
func (p *process) readWaiting(ref *metav1.OwnerReference, namespace string) bool {
	for _, ns := range [2]string{namespace, ""} {
		if l := p.lookups[coords{ref.Kind, ns, ref.Name}]; l.uid == ref.UID && l.waiting {
			return true
		}
	}
	return false
}
