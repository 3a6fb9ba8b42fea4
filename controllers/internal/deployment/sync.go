package deployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// Sync brings one Deployment closer to its spec.
//
// Failures are retried forever, with backoff; upstream drops a key after 15 failures, until the next event (RULES H79).
// In a terminating namespace creations fail, and are not retried.
func (r *reconciler) Sync(ctx context.Context, key string) error {
	obj, exists, _ := r.deployments.GetByKey(key)
	if !exists {
		return nil
	}
	d := *obj.(*appsv1.Deployment)
	err := r.sync(ctx, key, &d)
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	return err
}

func (r *reconciler) sync(ctx context.Context, key string, d *appsv1.Deployment) error {
	u := &rollout{reconciler: r, key: key, d: d}
	s, err := readSelector(d)
	if err != nil {
		return fmt.Errorf("deployment %s: bad selector: %w", key, err)
	}
	if s == nil {
		return u.observe(ctx) // it would own every ReplicaSet
	}
	sets, err := r.own(ctx, d)
	if err != nil {
		return err
	}
	u.take(sets)
	if d.DeletionTimestamp != nil && !r.options.Without.Terminating {
		return u.writeOff(ctx)
	}
	if err := u.notePause(ctx); err != nil {
		return err
	}
	if err := u.syncRevision(ctx); err != nil {
		return err
	}
	switch revision, back := rollbackTo(u.d); {
	case u.d.Spec.Paused:
		return u.resize(ctx)
	case back:
		return u.rollback(ctx, revision)
	case u.resized():
		return u.resize(ctx)
	}
	switch u.d.Spec.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		return u.recreate(ctx)
	case appsv1.RollingUpdateDeploymentStrategyType:
		return u.roll(ctx)
	}
	return fmt.Errorf("deployment %s: unexpected strategy %q", key, d.Spec.Strategy.Type)
}

// writeOff does all there is to do for a terminating Deployment: it writes the status (ADOPT-3).
func (u *rollout) writeOff(ctx context.Context) error {
	if err := u.syncRevision(ctx); err != nil {
		return err
	}
	return u.writeStatus(ctx, u.count())
}

// rollout is one reconcile of one Deployment.
type rollout struct {
	*reconciler
	key  string
	d    *appsv1.Deployment   // a shallow copy, with the writes of this reconcile
	sets []*appsv1.ReplicaSet // its own, the oldest first, with the writes of this reconcile
	now  int                  // the index of the one of its template; -1 for none
}

// take sets the Deployment's ReplicaSets, and finds the oldest one of its template (RULES H75).
func (u *rollout) take(sets []*appsv1.ReplicaSet) {
	slices.SortFunc(sets, older)
	u.sets = sets
	u.now = slices.IndexFunc(sets, func(rs *appsv1.ReplicaSet) bool {
		return u.matches(rs)
	})
}

// matches reports whether a ReplicaSet has the Deployment's template.
func (u *rollout) matches(rs *appsv1.ReplicaSet) bool {
	if u.options.Without.SameTemplate {
		return rs.Labels[template.HashLabel] == u.hash()
	}
	return template.Same(&rs.Spec.Template, &u.d.Spec.Template)
}

// older orders ReplicaSets by age, then by name.
func older(a, b *appsv1.ReplicaSet) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// current returns the ReplicaSet of the Deployment's template, or nil.
func (u *rollout) current() *appsv1.ReplicaSet {
	if u.now < 0 {
		return nil
	}
	return u.sets[u.now]
}

// old returns the other ReplicaSets, the oldest first.
func (u *rollout) old() []*appsv1.ReplicaSet {
	return keep(u.sets, func(rs *appsv1.ReplicaSet) bool { return rs != u.current() })
}

func keep(sets []*appsv1.ReplicaSet, good func(*appsv1.ReplicaSet) bool) []*appsv1.ReplicaSet {
	var out []*appsv1.ReplicaSet
	for _, rs := range sets {
		if good(rs) {
			out = append(out, rs)
		}
	}
	return out
}

// active reports whether it wants pods.
func active(rs *appsv1.ReplicaSet) bool { return size(rs) > 0 }

// size returns the pods that a ReplicaSet wants.
func size(rs *appsv1.ReplicaSet) int32 {
	if rs.Spec.Replicas == nil {
		return 1
	}
	return *rs.Spec.Replicas
}

// total sums a number of ReplicaSets.
func total(sets []*appsv1.ReplicaSet, number func(*appsv1.ReplicaSet) int32) int32 {
	sum := int32(0)
	for _, rs := range sets {
		sum += number(rs)
	}
	return sum
}

// update writes a ReplicaSet. The result replaces it for the rest of the reconcile. Upstream continues with the old
// version, and its next write of the object conflicts.
func (u *rollout) update(ctx context.Context, rs *appsv1.ReplicaSet) error {
	obj, err := u.env.Client.Update(ctx, rs)
	if err == nil {
		u.put(obj.(*appsv1.ReplicaSet))
	}
	return err
}

// put replaces an older version of a ReplicaSet, or appends it, and returns its index.
func (u *rollout) put(rs *appsv1.ReplicaSet) int {
	i := slices.IndexFunc(u.sets, func(is *appsv1.ReplicaSet) bool { return is.UID == rs.UID })
	if i < 0 {
		i, u.sets = len(u.sets), append(u.sets, rs)
	}
	u.sets[i] = rs
	return i
}
