// What a process had seen when it acted.

package law

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
	"github.com/threelaws/threelaws/sim/law/internal/view"
)

// owners calls f with every version of the reconciled owner that the process knew during the reconcile. A version from
// a live read counts even if the process has received a newer version or the deletion since.
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

// owns reports whether an owner controls an object, according to the process's knowledge.
func (p *process) owns(object, owner types.UID) bool {
	e := p.known.ByUID[object]
	return e != nil && e.Owner == owner
}

// tookForOwn reports whether the record's worker may have believed that an owner controls an object. The process
// believes this now, or did so at some moment of the reconcile.
func (p *process) tookForOwn(r *sim.Record, object, owner types.UID) bool {
	k := p.work(r)
	return p.owns(object, owner) || k != nil && slices.ContainsFunc(p.known.Journal.Entries, func(g view.Glimpse) bool {
		return g.UID == object && g.Owner == owner && g.Record >= k.begun
	})
}

// sawGoing reports whether the garbage collector's cache shows that an owner is terminating, and either orphans its
// dependents or waits for them.
func (p *process) sawGoing(owner *Object) bool {
	c := p.Cache(owner.Ref.Kind).Get(owner.Ref.Namespace, owner.Ref.Name)
	return c != nil && c.Meta.GetUID() == owner.Meta.GetUID() && (meta.Orphaning(c.Meta) || meta.Foreground(c.Meta))
}

// sawBefore returns a dependent's reference to an owner, or nil if the process had not received the reference when it
// sent the record's request. If the time of the request is unknown, the start of the reconcile counts. If that is
// unknown too, the current cache counts.
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

// knewTied is like sawBefore, but returns nil if the process itself has removed the reference. The process may not know
// that another client has added the reference again.
func (p *process) knewTied(r *sim.Record, o *Object, owner types.UID) *metav1.OwnerReference {
	if slices.Contains(p.cut[o.Meta.GetUID()].owners, owner) {
		return nil
	}
	return p.sawBefore(r, o, owner)
}

// cut holds the references that a garbage collector removed from an object, until the collector's cache shows the
// removal.
type cut struct {
	owners  []types.UID
	version uint64 // the resourceVersion of the last write that removed a reference
}

// cuts notes the references that a write of the garbage collector removes.
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

// shownCut forgets an object's removed references when a delivery shows the removal or a later version.
func (p *process) shownCut(before, after metav1.Object) {
	if before != nil && (after == nil || after.GetUID() != before.GetUID()) {
		delete(p.cut, before.GetUID())
	}
	if after != nil && meta.Version(after) >= p.cut[after.GetUID()].version {
		delete(p.cut, after.GetUID())
	}
}

// tookForAnother reports whether the worker may have seen an earlier object of that name. It may if the process's cache
// contains another UID than the parameter uid, or contains uid only since the reconcile began.
func (p *process) tookForAnother(r *sim.Record, uid types.UID) bool {
	c, k := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name), p.work(r)
	return c != nil && (c.Meta.GetUID() != uid || k != nil && k.begun > 0 && c.Born > k.begun)
}

// knowsAbsent reports whether a garbage collector may treat an owner as absent. One of these facts is enough:
//   - It received the owner's deletion.
//   - Its last live read of the owner's name found nothing or another UID (in the namespace given, or cluster-scoped).
//   - Its last live read found that the owner waits for its dependents.
//   - The judge has forgotten such facts.
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

// readWaiting reports whether the garbage collector's last live read of an owner found it waiting for its dependents.
func (p *process) readWaiting(ref *metav1.OwnerReference, namespace string) bool {
	for _, ns := range [2]string{namespace, ""} {
		if l := p.lookups[coords{ref.Kind, ns, ref.Name}]; l.uid == ref.UID && l.waiting {
			return true
		}
	}
	return false
}
