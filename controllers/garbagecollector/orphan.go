package garbagecollector

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// orphan removes the references of an object's dependents, then releases the object (GC-3). If it left earlier, a
// dependent that still refers to it would be deleted (GC-4). Dependents that appear before the finalizer's removal is
// sent are included. Upstream handles only those known at the start.
//
// A dependent created just before the deletion, and not seen yet, is missed here and upstream (RULES K105).
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

// cutLoose orphans the dependents that are not orphaned yet, and records them.
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
