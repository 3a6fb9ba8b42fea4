package deployment

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cleanUp deletes old ReplicaSets beyond the history limit, lowest revisions first. It deletes only those without pods
// whose own controller has observed that they want none (RULES H78).
//
// A delete carries the uid, so another ReplicaSet of the name survives (EXACT-4); upstream deletes whatever has the
// name.
func (u *rollout) cleanUp(ctx context.Context) error {
	limit, limited := keepsHistory(u.d)
	history := keep(u.old(), func(rs *appsv1.ReplicaSet) bool { return rs.DeletionTimestamp == nil })
	if !limited || len(history) <= limit {
		return nil
	}
	slices.SortFunc(history, lower)
	for _, rs := range history[:len(history)-limit] {
		has := rs.Status.Replicas
		if u.options.Without.Idle {
			has = rs.Status.ReadyReplicas
		} else if active(rs) {
			continue
		}
		if has != 0 || rs.Generation > rs.Status.ObservedGeneration {
			continue
		}
		only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &rs.UID}}
		if u.options.Without.VictimUID {
			only = metav1.DeleteOptions{}
		}
		err := u.env.Client.Delete(ctx, SetKind, rs.Namespace, rs.Name, only)
		if err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// lower orders ReplicaSets by revision, or else by age.
func lower(a, b *appsv1.ReplicaSet) int {
	m, err := revision(a)
	n, other := revision(b)
	if err != nil || other != nil {
		return older(a, b)
	}
	return cmp.Or(cmp.Compare(m, n), older(a, b))
}
