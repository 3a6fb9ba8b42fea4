package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/ref"
)

// errNamespacedOwner means that a cluster-scoped object refers to a namespaced owner, whose namespace is unknown.
var errNamespacedOwner = errors.New("cluster-scoped objects cannot refer to namespaced owners")

func (c *collector) collect(ctx context.Context, n *node) error {
	if n.deleting && !n.foreground {
		return nil // the object is already terminating
	}
	id := n.identity
	if n.virtual && n.namespace == "" {
		if k := c.kind(id); k != nil && k.Namespaced {
			return nil // only a cluster-scoped object refers to it: see errNamespacedOwner
		}
	}
	if n.virtual && c.without.LiveOwner {
		return c.absent(id)
	}
	latest, err := c.get(ctx, id)
	if apierrors.IsNotFound(err) || err == nil && latest.GetUID() != id.uid && !(n.virtual && c.without.OwnerUID) {
		return c.absent(id)
	}
	if err != nil {
		return err
	}
	if n.foreground {
		return c.finishForeground(ctx, n)
	}
	refs := latest.GetOwnerReferences()
	if c.without.LiveItem {
		refs = n.owners
	}
	if err := c.judge(ctx, n, id, latest, refs); err != nil && err != errNamespacedOwner {
		return err
	}
	if n.virtual && !c.without.Unseen {
		// The owner exists, but no informer shows it yet. Retry, because only a live read can tell when it is gone
		// (RULES K93).
		return fmt.Errorf("%s %s/%s has not been seen yet", id.kind, id.namespace, id.name)
	}
	return nil
}

// absent tells the graph that a live read has not found an object. If dependents name the same uid with another kind,
// name or namespace, absent returns an error, and the retry looks there.
func (c *collector) absent(id identity) error {
	if c.graph.verifiedAbsent(id) {
		return fmt.Errorf("there is no %s %s/%s with uid %s, but it is referred to by other names", id.kind,
			id.namespace, id.name, id.uid)
	}
	return nil
}

// owners has the uids of an object's owners. waiting owners are in foreground deletion and wait for the object. absent
// owners do not exist. solid owners are all others.
type owners struct{ solid, absent, waiting []types.UID }

// judge decides by an object's references whether to keep the object, to delete it, or to remove references.
func (c *collector) judge(ctx context.Context, n *node, id identity, latest metav1.Object,
	refs []metav1.OwnerReference) error {
	if len(refs) == 0 {
		return nil
	}
	o, err := c.classify(ctx, id, refs)
	if err != nil {
		return err
	}
	switch {
	case len(o.solid) > 0 && !(c.without.EveryOwner && len(o.absent) > 0):
		dead := append(o.absent, o.waiting...)
		if len(dead) == 0 || c.without.DeadRefs {
			return nil
		}
		if c.without.LiveRefs {
			dead = append(dead, o.solid...)
		}
		return c.cut(ctx, id, dead) // the object keeps its other owners (GC-1, GC-8)
	case len(o.waiting) > 0 && len(n.dependents) > 0:
		if latest.GetDeletionTimestamp() != nil && has(latest, metav1.FinalizerOrphanDependents) && !c.without.Exercised {
			// The graph does not show the orphan finalizer yet. A foreground delete, which upstream sends, would
			// replace that finalizer.
			return nil
		}
		if err := c.breakCycle(ctx, n); err != nil {
			return err
		}
		return c.delete(ctx, id, latest, refs, metav1.DeletePropagationForeground)
	}
	return c.delete(ctx, id, latest, refs, c.policy(latest))
}

// policy returns the deletion policy whose finalizer the object has, or background without one (RULES K101).
func (c *collector) policy(latest metav1.Object) metav1.DeletionPropagation {
	switch {
	case c.without.Finalizers:
	case has(latest, metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case has(latest, metav1.FinalizerDeleteDependents) && !c.without.Foreground:
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

// classify groups an object's owners. If no informer has shown a cluster-scoped object, id has the namespace of its
// dependent. The object's owners must not be looked up in that namespace (GC-7), although upstream does so.
func (c *collector) classify(ctx context.Context, id identity, refs []metav1.OwnerReference) (owners, error) {
	if k := c.kind(id); k != nil && !k.Namespaced && !c.without.Borrowed {
		id.namespace = ""
	}
	var o owners
	for i := range refs {
		r := &refs[i]
		if c.without.AnyOwner && (r.Controller == nil || !*r.Controller) {
			continue
		}
		owner, err := c.owner(ctx, id, r)
		switch {
		case err != nil:
			return o, err
		case owner == nil:
			o.absent = append(o.absent, r.UID)
		case c.waits(owner):
			o.waiting = append(o.waiting, r.UID)
		default:
			o.solid = append(o.solid, r.UID)
		}
	}
	return o, nil
}

func (c *collector) waits(owner metav1.Object) bool {
	deleted := owner.GetDeletionTimestamp() != nil || c.without.Undeleted
	return deleted && has(owner, metav1.FinalizerDeleteDependents) && !c.without.Waiting
}

// owner reads an object's owner from the server. It returns nil if the owner is absent. A namespaced owner is read in
// the object's own namespace (GC-7).
func (c *collector) owner(ctx context.Context, id identity, r *metav1.OwnerReference) (metav1.Object, error) {
	at := referred(r, id.namespace)
	if c.graph.absent.has(referred(r, "")) || c.graph.absent.has(at) {
		return nil, nil
	}
	k, namespace, err := c.scope(at)
	if err != nil {
		if c.without.UnknownKind {
			return nil, nil
		}
		return nil, err
	}
	if k.Namespaced && id.namespace == "" && !c.without.Reach {
		return nil, errNamespacedOwner
	}
	at.namespace = namespace
	owner, err := c.get(ctx, at)
	if err != nil && c.without.OwnerErrors {
		return nil, nil
	}
	if apierrors.IsNotFound(err) || err == nil && owner.GetUID() != r.UID && !c.without.OwnerUID {
		c.graph.absent.add(at)
		return nil, nil
	}
	return owner, err
}

// cut removes the references to the owners with these uids from the object.
func (c *collector) cut(ctx context.Context, id identity, owners []types.UID) error {
	return c.patch(ctx, id, ref.ReleasePatch(nil, id.uid, owners...), owners)
}

// breakCycle makes an object's references non-blocking if one of its dependents is in foreground deletion. Otherwise
// the object and the dependent may wait for each other (GC-6).
func (c *collector) breakCycle(ctx context.Context, n *node) error {
	if c.without.Cycles {
		return nil
	}
	if slices.ContainsFunc(n.dependents, func(d *node) bool { return d.foreground }) {
		return c.unblock(ctx, n)
	}
	return nil
}

func (c *collector) unblock(ctx context.Context, n *node) error {
	var blocking []types.UID
	for i := range n.owners {
		if blocks(&n.owners[i]) {
			blocking = append(blocking, n.owners[i].UID)
		}
	}
	return c.patch(ctx, n.identity, ref.UnblockPatch(nil, n.uid, blocking...), nil)
}

// finishForeground removes the foreground finalizer from an object without blocking dependents. If there are blocking
// dependents, it queues a check of those that are not in foreground deletion themselves (GC-2). It also breaks a cycle
// of objects that wait for each other. Such a cycle can form while the graph lags: when the last object was deleted,
// the graph did not show the first one as terminating. Upstream does not look for cycles here, and the cycle stays
// (GC-6).
func (c *collector) finishForeground(ctx context.Context, n *node) error {
	free := func() bool { return c.without.Blocking || len(n.blocking(c.without)) == 0 }
	if free() {
		err := c.removeFinalizer(ctx, n, metav1.FinalizerDeleteDependents, free)
		if err != errNotYet {
			return err
		}
	}
	if !c.without.LateCycles && n.waitsForItself(c.without) {
		return c.unblock(ctx, n)
	}
	for _, d := range n.blocking(c.without) {
		if !d.foreground {
			c.graph.look(d)
		}
	}
	return nil
}

// orphan removes the dependents' references to an object, and then the object's orphan finalizer (GC-3). In the other
// order, a dependent that still refers to the object would be deleted (GC-4). orphan includes dependents that appear
// before it removes the finalizer. Upstream handles only the dependents that it knows at the start.
//
// Like upstream, it misses a dependent that was created just before the deletion and is not in the graph (RULES K105).
func (c *collector) orphan(ctx context.Context, n *node) error {
	id := n.identity
	if c.without.OrphanFirst {
		if err := c.removeFinalizer(ctx, n, metav1.FinalizerOrphanDependents, func() bool { return true }); err != nil {
			return err
		}
	}
	loose := map[types.UID]bool{}
	for {
		if err := c.cutLoose(ctx, id, n, loose); err != nil && !c.without.OrphanErrors {
			return err
		}
		err := c.removeFinalizer(ctx, n, metav1.FinalizerOrphanDependents, func() bool {
			return c.without.OrphanAgain ||
				!slices.ContainsFunc(n.dependents, func(d *node) bool { return !loose[d.uid] })
		})
		if err != errNotYet {
			return err
		}
	}
}

// cutLoose removes the references to id from each dependent that is not in the set loose, and adds it to the set.
func (c *collector) cutLoose(ctx context.Context, id identity, n *node, loose map[types.UID]bool) error {
	var errs []error
	for _, d := range slices.Clone(n.dependents) {
		if loose[d.uid] {
			continue
		}
		loose[d.uid] = true
		err := c.cut(ctx, d.identity, []types.UID{id.uid})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("orphaning %s %s/%s: %w", d.kind, d.namespace, d.name, err))
		}
	}
	return utilerrors.NewAggregate(errs)
}
