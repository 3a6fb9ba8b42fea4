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

// orphan cuts the dependants of an object loose, and lets it go when all of
// them are (GC-3): while one still refers to it, its disappearance would have
// that one collected (GC-4).
//
// The dependants are those the graph knows of now. One that was created just
// before the deletion, and has not been seen yet, is missed, here as upstream
// (RULES K105).
func (c *collector) orphan(ctx context.Context, n *node) error {
	id := n.identity
	if c.without.OrphanFirst {
		if err := c.removeFinalizer(ctx, id, metav1.FinalizerOrphanDependents); err != nil {
			return err
		}
	}
	var errs []error
	for _, d := range slices.Clone(n.dependents) {
		err := c.cut(ctx, d.identity, []types.UID{id.uid})
		if err != nil && !apierrors.IsNotFound(err) {
			errs = append(errs, fmt.Errorf("orphaning %s %s/%s: %w", d.kind, d.namespace, d.name, err))
		}
	}
	if len(errs) > 0 && !c.without.OrphanErrors {
		return utilerrors.NewAggregate(errs)
	}
	return c.removeFinalizer(ctx, id, metav1.FinalizerOrphanDependents)
}
