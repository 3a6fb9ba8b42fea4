package deployment

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// create creates the ReplicaSet of the Deployment's template, and stores its revision. The template determines its
// name. If the cache does not show the first creation yet, the second is therefore refused.
func (u *rollout) create(ctx context.Context) error {
	rs := u.newSet()
	obj, err := u.env.Client.Create(ctx, rs)
	made := err == nil
	switch {
	case apierrors.IsAlreadyExists(err):
		if rs, err = u.taken(ctx, rs.Name, err); err != nil {
			return err
		}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case err != nil:
		u.noteFailure(ctx, rs.Name, err)
		return err
	default:
		rs = obj.(*appsv1.ReplicaSet)
	}
	needed := u.setRevision(strconv.FormatInt(u.nextRevision(), 10))
	u.now = u.put(rs)
	if made && hasDeadline(u.d) {
		u.say(&u.d.Status, appsv1.DeploymentProgressing, corev1.ConditionTrue, setCreated,
			fmt.Sprintf("Created new replica set %q", rs.Name))
		needed = true
	}
	if !needed {
		return nil
	}
	return u.updateStatus(ctx)
}

// newSet returns the ReplicaSet of the Deployment's template, with the ControllerRef from the start (LAW-1).
func (u *rollout) newSet() *appsv1.ReplicaSet {
	d := u.d
	hash := u.hash()
	hashed := map[string]string{template.HashLabel: hash}
	t := d.Spec.Template
	t.Labels = with(t.Labels, hashed)
	selector := metav1.LabelSelector{MatchExpressions: d.Spec.Selector.MatchExpressions,
		MatchLabels: with(d.Spec.Selector.MatchLabels, hashed)}
	size := u.room(0)
	rs := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name:      setName(d.Name, hash),
			Namespace: d.Namespace,
			Labels:    t.Labels,
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &size, MinReadySeconds: d.Spec.MinReadySeconds, Selector: &selector, Template: t,
		},
	}
	if u.options.Era != Selector && !u.options.Without.TakeOwned {
		rs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, Kind)}
	}
	if u.options.Without.NameOfTemplate {
		rs.Name, rs.GenerateName = "", d.Name+"-"
	}
	rs.Annotations = u.annotations(rs, u.nextRevision())
	maps.Copy(rs.Annotations, sizes(d))
	return rs
}

// hash returns the hash of the Deployment's template.
func (u *rollout) hash() string {
	switch t := &u.d.Spec.Template; u.options.Era {
	case Selector:
		return template.OldHash(t)
	case Gated, ControllerRef:
		return template.Hash(t, nil)
	default:
		return template.Hash(t, u.d.Status.CollisionCount)
	}
}

// setName returns the name of the ReplicaSet of a template.
func setName(deployment, hash string) string {
	if room := validation.DNS1123SubdomainMaxLength - len("-") - len(hash); len(deployment) > room {
		deployment = deployment[:room]
	}
	return deployment + "-" + hash
}

// taken returns the ReplicaSet that already has the name, if it is the Deployment's own and has the same template.
// Otherwise two templates have one hash, or the ReplicaSet was released or belongs to another: the collision is
// counted, which changes the hash, and refused is returned for a retry (RULES H76). It reads the cache: while that
// shows no such name, nothing is known. Before collisions were counted, the same name was retried forever.
func (u *rollout) taken(ctx context.Context, name string, refused error) (*appsv1.ReplicaSet, error) {
	obj, exists, err := u.reconciler.sets.GetByKey(u.d.Namespace + "/" + name)
	if err != nil || !exists {
		return nil, refused
	}
	rs := obj.(*appsv1.ReplicaSet)
	if metav1.IsControlledBy(rs, u.d) && u.matches(rs) || u.options.Without.Taken {
		return rs, nil
	}
	if u.options.Era != Current || u.options.Without.Collisions {
		return nil, refused
	}
	count := int32(1)
	if n := u.d.Status.CollisionCount; n != nil {
		count += *n
	}
	u.d.Status.CollisionCount = &count
	if err := u.updateStatus(ctx); err != nil {
		return nil, err
	}
	return nil, refused
}

// noteFailure records in the status that the ReplicaSet could not be created. An error of this write is ignored.
func (u *rollout) noteFailure(ctx context.Context, name string, err error) {
	if !hasDeadline(u.d) {
		return
	}
	s := u.d.Status
	u.say(&s, appsv1.DeploymentProgressing, corev1.ConditionFalse, createFailed,
		fmt.Sprintf("Failed to create new replica set %q: %v", name, err))
	_ = u.writeStatus(ctx, s)
}
