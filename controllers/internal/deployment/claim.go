package deployment

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/ref"
)

// own returns the Deployment's ReplicaSets, claimed by the rules of its era.
func (r *reconciler) own(ctx context.Context, d *appsv1.Deployment) ([]*appsv1.ReplicaSet, error) {
	if r.options.Era == Selector {
		return r.selected(d), nil
	}
	without := r.options.Without.Ref
	if r.options.Era == Gated {
		without.LiveCheck, without.ObjectDeletion = true, true
	}
	m := &ref.Manager{Client: r.env.Client, Owner: d, Kind: Kind, Dependent: SetKind, Without: &without}
	sets := r.candidates(d)
	claimed, err := ref.Claim(ctx, m, sets, func(rs *appsv1.ReplicaSet) bool { return selects(d, rs.Labels) })
	if r.options.Without.ClaimFirst {
		return keep(sets, func(rs *appsv1.ReplicaSet) bool { return metav1.IsControlledBy(rs, d) }), err
	}
	return claimed, err
}

// candidates returns the ReplicaSets that the Deployment may own now or after this reconcile: its own, and the orphans
// of its namespace (KIND-DEPLOY, RULES H74). Those of others are not considered (LAW-2, LAW-3).
func (r *reconciler) candidates(d *appsv1.Deployment) []*appsv1.ReplicaSet {
	if r.options.Without.Ref.Foreign {
		return listed(index(r.sets, cache.NamespaceIndex, d.Namespace))
	}
	return append(listed(index(r.sets, controllerIndex, string(d.UID))),
		listed(index(r.sets, orphanIndex, d.Namespace))...)
}

func listed(objs []any) []*appsv1.ReplicaSet {
	sets := make([]*appsv1.ReplicaSet, len(objs))
	for i, obj := range objs {
		sets[i] = obj.(*appsv1.ReplicaSet)
	}
	return sets
}

// selected implements the selector era: every matching ReplicaSet is the Deployment's, whoever created it.
func (r *reconciler) selected(d *appsv1.Deployment) []*appsv1.ReplicaSet {
	return keep(listed(index(r.sets, cache.NamespaceIndex, d.Namespace)),
		func(rs *appsv1.ReplicaSet) bool { return selects(d, rs.Labels) })
}
