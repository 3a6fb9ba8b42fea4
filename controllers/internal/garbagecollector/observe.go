package garbagecollector

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// observed handles an informer's event for a new or updated object. old is nil for a new object.
func (g *graph) observed(gvk schema.GroupVersionKind, old, obj metav1.Object) {
	id := identity{apiVersion: gvk.GroupVersion().String(), kind: gvk.Kind, namespace: obj.GetNamespace(),
		name: obj.GetName(), uid: obj.GetUID()}
	n := g.nodes[id.uid]
	if n == nil {
		n = &node{identity: id, owners: obj.GetOwnerReferences(), deleting: obj.GetDeletionTimestamp() != nil}
		n.foreground = n.deleting && has(obj, metav1.FinalizerDeleteDependents)
		g.insert(n)
	} else {
		if n.virtual {
			g.materialize(n, id)
		}
		g.reown(n, obj.GetOwnerReferences())
		n.deleting = obj.GetDeletionTimestamp() != nil
	}
	g.deletionStarted(n, old, obj)
}

// materialize turns a virtual node into the object that was seen. It checks dependents whose reference has other
// coordinates, because the reference may be wrong (GC-7).
func (g *graph) materialize(n *node, id identity) {
	if n.identity != id {
		n.identity = id
		_, wrong := partition(n.dependents, id)
		for _, d := range wrong {
			if id.elsewhere(d) {
				g.complain(d, find(d.owners, &metav1.OwnerReference{UID: id.uid}))
			}
		}
		g.lookAll(wrong)
	}
	n.virtual = false
}

// reown updates a node's edges. If a reference no longer blocks, or is removed, the owner's deletion may continue.
func (g *graph) reown(n *node, refs []metav1.OwnerReference) {
	var added, removed []metav1.OwnerReference
	for _, r := range refs {
		was := find(n.owners, &r)
		if was == nil {
			added = append(added, r)
		} else if blocks(was) && !blocks(&r) {
			g.unblock(&r)
		}
	}
	for _, r := range n.owners {
		if find(refs, &r) == nil {
			removed = append(removed, r)
			if blocks(&r) {
				g.unblock(&r)
			}
		}
	}
	n.owners = refs
	g.addEdges(n, added)
	if !g.without.Removed {
		g.dropEdges(n, removed)
	}
}

func (g *graph) unblock(r *metav1.OwnerReference) {
	if owner := g.nodes[r.UID]; owner != nil && !g.without.Unblock {
		g.look(owner)
	}
}

func find(refs []metav1.OwnerReference, r *metav1.OwnerReference) *metav1.OwnerReference {
	for i := range refs {
		if refs[i].UID == r.UID {
			return &refs[i]
		}
	}
	return nil
}

// deletionStarted queues the work of a deletion policy when an object becomes terminating with that policy's finalizer.
// It also queues this work when a terminating object gets the finalizer (RULES K106).
//
// Between two events that show the same finalizer, it may have been removed and added again. For example, the garbage
// collector removes it, another finalizer keeps the object, and in a watch gap a client deletes the object again.
// Therefore the work is queued again for a released object. Upstream only compares the two states
// (deletionStartsWithFinalizer), and the object stays until the garbage collector restarts.
func (g *graph) deletionStarted(n *node, old, obj metav1.Object) {
	if n.released && !g.without.AskedAgain {
		old = nil
	}
	n.released = false
	if g.starts(old, obj, metav1.FinalizerOrphanDependents) {
		g.orphan(n)
		return
	}
	if g.starts(old, obj, metav1.FinalizerDeleteDependents) {
		n.foreground = true
		g.lookAll(n.dependents) // all, blocking or not (RULES K104)
		g.look(n)
	}
}

func (g *graph) starts(old, obj metav1.Object, finalizer string) bool {
	going := func(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil && has(o, finalizer) }
	if g.without.Begun && old != nil && old.GetDeletionTimestamp() != nil {
		return false
	}
	return going(obj) && (old == nil || !going(old))
}

func has(obj metav1.Object, finalizer string) bool {
	return slices.Contains(obj.GetFinalizers(), finalizer)
}

func (g *graph) removed(obj metav1.Object) {
	if n := g.nodes[obj.GetUID()]; n != nil {
		g.remove(n)
	}
}

// verifiedAbsent handles a read from the server that found no object of this identity. It reports whether to look up
// the uid again, under the coordinates that other dependents name (RULES K98).
func (g *graph) verifiedAbsent(id identity) (again bool) {
	n := g.nodes[id.uid]
	if n == nil {
		return false
	}
	if !n.virtual && n.identity == id {
		g.remove(n)
		return false
	}
	right, wrong := partition(n.dependents, id)
	if n.virtual && len(wrong) == 0 {
		g.remove(n)
		return false
	}
	if len(right) > 0 {
		g.absent.add(id)
		g.lookAll(right)
	}
	if n.virtual {
		n.identity = alternative(wrong, id)
		return true
	}
	return false
}

// partition splits dependents by their references. right dependents refer to this identity. wrong dependents refer to
// its uid with another kind, name or namespace. A dependent with both kinds of reference is in both lists.
func partition(dependents []*node, id identity) (right, wrong []*node) {
	for _, d := range dependents {
		isRight, isWrong := false, false
		for i := range d.owners {
			r := &d.owners[i]
			switch {
			case r.UID != id.uid:
			case (id.namespace == "" || id.namespace == d.namespace) && id.refersTo(r):
				isRight = true
			default:
				isWrong = true
			}
		}
		if isRight {
			right = append(right, d)
		}
		if isWrong {
			wrong = append(wrong, d)
		}
	}
	return right, wrong
}

// alternative returns another identity that dependents name for the uid. It is the one that follows the parameter after
// in sorted order. After the last identity comes the first one.
func alternative(dependents []*node, after identity) identity {
	var all []identity
	for _, d := range dependents {
		for i := range d.owners {
			r := &d.owners[i]
			if r.UID != after.uid || after.namespace == "" && after.refersTo(r) {
				continue // a cluster-scoped owner is the same from every namespace
			}
			all = append(all, referred(r, d.namespace))
		}
	}
	slices.SortFunc(all, compareIdentity)
	i, _ := slices.BinarySearchFunc(all, after, compareIdentity)
	for i < len(all) && all[i] == after {
		i++
	}
	if i == len(all) {
		i = 0
	}
	return all[i]
}
