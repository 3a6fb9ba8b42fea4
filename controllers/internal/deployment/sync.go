package deployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/template"
)

// Sync reconciles one Deployment. Failures are retried forever, with backoff. Upstream drops a key after 15 failures
// (RULES H79). In a terminating namespace creations fail and are not retried.
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
	s, err := ref.ParseSome(d.Spec.Selector)
	if err != nil {
		return fmt.Errorf("deployment %s: bad selector: %w", key, err)
	}
	if s == nil {
		return u.observe(ctx) // in upstream, an empty selector would select every ReplicaSet
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

// writeOff is the reconcile of a terminating Deployment. It only writes the Deployment (ADOPT-3).
func (u *rollout) writeOff(ctx context.Context) error {
	if err := u.syncRevision(ctx); err != nil {
		return err
	}
	return u.writeStatus(ctx, u.count())
}

type rollout struct {
	*reconciler
	key  string
	d    *appsv1.Deployment   // a shallow copy of the Deployment; it includes the writes of this reconcile
	sets []*appsv1.ReplicaSet // its own ReplicaSets, the oldest first; they include this reconcile's writes
	now  int                  // the index in sets of the current ReplicaSet; -1 for none
}

// take sets the Deployment's ReplicaSets. The oldest one with the Deployment's template is the current one (RULES H75).
func (u *rollout) take(sets []*appsv1.ReplicaSet) {
	slices.SortFunc(sets, older)
	u.sets = sets
	u.now = slices.IndexFunc(sets, func(rs *appsv1.ReplicaSet) bool {
		return u.matches(rs)
	})
}

func (u *rollout) matches(rs *appsv1.ReplicaSet) bool {
	if u.options.Without.SameTemplate {
		return rs.Labels[template.HashLabel] == u.hash()
	}
	return template.Same(&rs.Spec.Template, &u.d.Spec.Template)
}

func older(a, b *appsv1.ReplicaSet) int {
	if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

func (u *rollout) current() *appsv1.ReplicaSet {
	if u.now < 0 {
		return nil
	}
	return u.sets[u.now]
}

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

func active(rs *appsv1.ReplicaSet) bool { return size(rs) > 0 }

func size(rs *appsv1.ReplicaSet) int32 {
	if rs.Spec.Replicas == nil {
		return 1
	}
	return *rs.Spec.Replicas
}

func total(sets []*appsv1.ReplicaSet, number func(*appsv1.ReplicaSet) int32) int32 {
	sum := int32(0)
	for _, rs := range sets {
		sum += number(rs)
	}
	return sum
}

// update writes a ReplicaSet, and uses the result for the rest of the reconcile. Upstream continues with the old
// version, so its next write of the object conflicts.
func (u *rollout) update(ctx context.Context, rs *appsv1.ReplicaSet) error {
	obj, err := u.env.Client.Update(ctx, rs)
	if err == nil {
		u.put(obj.(*appsv1.ReplicaSet))
	}
	return err
}

// put replaces a ReplicaSet by a newer version, or appends it, and returns its index.
func (u *rollout) put(rs *appsv1.ReplicaSet) int {
	i := slices.IndexFunc(u.sets, func(is *appsv1.ReplicaSet) bool { return is.UID == rs.UID })
	if i < 0 {
		i, u.sets = len(u.sets), append(u.sets, rs)
	}
	u.sets[i] = rs
	return i
}

// own claims ReplicaSets by the rules of the era, and returns the Deployment's own.
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

// candidates returns the ReplicaSets that the Deployment may own: its own, and the orphans of its namespace
// (KIND-DEPLOY, RULES H74). ReplicaSets of other owners are excluded (LAW-2, LAW-3).
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

// selected implements the selector era: the Deployment owns every matching ReplicaSet.
func (r *reconciler) selected(d *appsv1.Deployment) []*appsv1.ReplicaSet {
	return keep(listed(index(r.sets, cache.NamespaceIndex, d.Namespace)),
		func(rs *appsv1.ReplicaSet) bool { return selects(d, rs.Labels) })
}

// count returns the status, which it computes from the statuses of the ReplicaSets (LAW-3). It keeps the conditions,
// except that it updates condition Available.
func (u *rollout) count() appsv1.DeploymentStatus {
	sets := u.sets
	if u.options.Without.OwnStatus {
		sets = u.selected(u.d)
	}
	available := total(sets, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.AvailableReplicas })
	s := appsv1.DeploymentStatus{
		ObservedGeneration: u.d.Generation,
		Replicas:           total(sets, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.Replicas }),
		ReadyReplicas:      total(sets, func(rs *appsv1.ReplicaSet) int32 { return rs.Status.ReadyReplicas }),
		AvailableReplicas:  available,
		// Without max, it would be negative while available pods are being deleted.
		UnavailableReplicas: max(total(sets, size)-available, 0),
		TerminatingReplicas: u.terminating(),
		CollisionCount:      u.d.Status.CollisionCount,
		Conditions:          u.d.Status.Conditions,
	}
	if rs := u.current(); rs != nil {
		s.UpdatedReplicas = rs.Status.Replicas
	}
	if available >= least(u.d) {
		u.say(&s, appsv1.DeploymentAvailable, corev1.ConditionTrue, enoughPods, "Deployment has minimum availability.")
	} else {
		u.say(&s, appsv1.DeploymentAvailable, corev1.ConditionFalse, notEnoughPods,
			"Deployment does not have minimum availability.")
	}
	return s
}

// terminating counts terminating pods. It returns nil in earlier eras, or if an observed ReplicaSet reports no number.
func (u *rollout) terminating() *int32 {
	if u.options.Era != Current {
		return nil
	}
	sum := int32(0)
	for _, rs := range u.sets {
		switch n := rs.Status.TerminatingReplicas; {
		case n != nil:
			sum += *n
		case rs.Status.ObservedGeneration != 0:
			return nil
		}
	}
	return &sum
}

// writeStatus writes the status s if it differs from the Deployment's status.
func (u *rollout) writeStatus(ctx context.Context, s appsv1.DeploymentStatus) error {
	before := u.d.Status
	if u.options.Era != Current {
		before.TerminatingReplicas = nil // earlier eras of the controller do not know this field
	}
	if equality.Semantic.DeepEqual(&before, &s) && !u.options.Without.Unchanged {
		return nil
	}
	u.d.Status = s
	return u.updateStatus(ctx)
}

// updateStatus writes the Deployment's status and annotations. The result replaces the Deployment for the rest of the
// reconcile. The result's spec is unchanged, because a changed spec would have caused a conflict.
func (u *rollout) updateStatus(ctx context.Context) error {
	obj, err := u.env.Client.UpdateStatus(ctx, u.d)
	if err != nil {
		return err
	}
	d := *obj.(*appsv1.Deployment)
	u.d = &d
	return nil
}

// observe changes only observedGeneration in the status.
func (u *rollout) observe(ctx context.Context) error {
	if u.d.Status.ObservedGeneration >= u.d.Generation {
		return nil
	}
	u.d.Status.ObservedGeneration = u.d.Generation
	return u.updateStatus(ctx)
}

// complete reports whether every wanted pod is in the current ReplicaSet and available, and no other pod exists.
func complete(d *appsv1.Deployment, s *appsv1.DeploymentStatus) bool {
	n := replicas(d)
	return s.UpdatedReplicas == n && s.Replicas == n && s.AvailableReplicas == n &&
		s.ObservedGeneration >= d.Generation
}
