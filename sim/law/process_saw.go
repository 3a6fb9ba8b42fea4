// What a process had been shown when it acted, as the checks ask for it.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/law/internal/meta"
)

// owners calls f with every version of its owner that the process knew of while
// the worker was at it: what a live read answered counts, though newer ones or
// the end of the owner have been delivered since.
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

// sawGoing reports whether a collector's view has an owner as one that lets its
// dependents go: they are orphaned, or it waits for them.
func (p *process) sawGoing(owner *Object) bool {
	c := p.Cache(owner.Ref.Kind).Get(owner.Ref.Namespace, owner.Ref.Name)
	return c != nil && c.Meta.GetUID() == owner.Meta.GetUID() && (meta.Orphaning(c.Meta) || meta.Foreground(c.Meta))
}

// sawBefore reports whether the process had been shown a dependent's reference
// before the request left that a record answers. Where the record does not say
// when that was, it is taken to be when its sync began, or else now.
func (p *process) sawBefore(r *sim.Record, o *Object, owner types.UID) bool {
	c, k := p.Cache(o.Ref.Kind).Get(o.Ref.Namespace, o.Ref.Name), p.work(r)
	if c == nil || k == nil || c.Meta.GetUID() != o.Meta.GetUID() || meta.RefTo(c.Meta, owner) == nil {
		return false
	}
	left := r.Asked
	if left == 0 {
		left = k.begun
	}
	return left == 0 || c.Since < left
}

// tookForAnother reports whether the object of a commit was another incarnation
// to the process when the sync began that the commit belongs to.
func (p *process) tookForAnother(r *sim.Record, uid types.UID) bool {
	c, k := p.Cache(r.Object.Kind).Get(r.Object.Namespace, r.Object.Name), p.work(r)
	return c != nil && (c.Meta.GetUID() != uid || k != nil && k.begun > 0 && c.Born > k.begun)
}

// knowsAbsent reports whether a collector was told that the owner a reference
// names is gone, by a live read in the namespaces where it could be or by a
// delivered deletion. That it was going, when it was read, does as well; and a judge
// that forgets cannot say that it was not told.
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

// readWaiting reports whether the collector's last live read of the owner that
// a reference names found it waiting for its dependents.
func (p *process) readWaiting(ref *metav1.OwnerReference, namespace string) bool {
	for _, ns := range [2]string{namespace, ""} {
		if l := p.lookups[coords{ref.Kind, ns, ref.Name}]; l.uid == ref.UID && l.waiting {
			return true
		}
	}
	return false
}
