package deployment

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/threelaws/threelaws/controllers/internal/template"
)

// The annotations of a Deployment's ReplicaSets. The Deployment also has the first one.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history" // the ReplicaSet's earlier revisions
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas" // the Deployment's size when it was last scaled
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"     // desired-replicas plus the surge
)

const historyLimit = 2000

// syncRevision gives the current ReplicaSet the highest revision and the Deployment's annotations and minReadySeconds.
// It copies the ReplicaSet's revision to the Deployment.
//
// If the Deployment is terminating, the ReplicaSet is not written (ADOPT-3). Upstream writes it (RULES H77).
func (u *rollout) syncRevision(ctx context.Context) error {
	rs := u.current()
	if rs == nil {
		return nil
	}
	annotations := u.annotations(rs, u.nextRevision())
	if (u.d.DeletionTimestamp == nil || u.options.Without.Untouched) &&
		(!maps.Equal(annotations, rs.Annotations) || rs.Spec.MinReadySeconds != u.d.Spec.MinReadySeconds) {
		changed := *rs
		changed.Annotations, changed.Spec.MinReadySeconds = annotations, u.d.Spec.MinReadySeconds
		if err := u.update(ctx, &changed); err != nil {
			return err
		}
	}
	needed := u.setRevision(annotations[revisionAnnotation])
	if hasDeadline(u.d) && condition(&u.d.Status, appsv1.DeploymentProgressing) == nil {
		u.say(&u.d.Status, appsv1.DeploymentProgressing, corev1.ConditionTrue, setFound,
			fmt.Sprintf("Found new replica set %q", rs.Name))
		needed = true
	}
	if !needed {
		return nil
	}
	return u.updateStatus(ctx)
}

func (u *rollout) nextRevision() int64 {
	highest := int64(0)
	for _, rs := range u.old() {
		if n, err := revision(rs); err == nil {
			highest = max(highest, n)
		}
	}
	return highest + 1
}

func revision(rs *appsv1.ReplicaSet) (int64, error) {
	text, ok := rs.Annotations[revisionAnnotation]
	if !ok {
		return 0, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// annotations returns the new annotations of the current ReplicaSet: its own, overridden by the Deployment's, and a
// revision of at least next. If the revision is raised, the former one is added to the history. If the revision is not
// a number, the annotations stay as they are.
func (u *rollout) annotations(rs *appsv1.ReplicaSet, next int64) map[string]string {
	out := with(rs.Annotations, nil)
	for k, v := range u.d.Annotations { //detcheck:ordered each key is set once
		if !ofItsOwn(k) {
			out[k] = v
		}
	}
	text, had := out[revisionAnnotation]
	now := int64(0)
	if text != "" {
		var err error
		if now, err = strconv.ParseInt(text, 10, 64); err != nil {
			return with(rs.Annotations, nil)
		}
	}
	if now < next {
		out[revisionAnnotation] = strconv.FormatInt(next, 10)
		if had {
			addHistory(out, text)
		}
	}
	return out
}

// ofItsOwn reports whether an annotation must not be copied between a Deployment and its ReplicaSets.
func ofItsOwn(key string) bool {
	switch key {
	case corev1.LastAppliedConfigAnnotation, appsv1.DeprecatedRollbackTo,
		revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation:
		return true
	}
	return false
}

// addHistory adds an earlier revision, and drops the oldest ones if the list is too long.
func addHistory(annotations map[string]string, former string) {
	list := annotations[historyAnnotation]
	for list != "" && len(list)+len(",")+len(former) > historyLimit {
		_, list, _ = strings.Cut(list, ",")
	}
	if list != "" {
		former = list + "," + former
	}
	if len(former) <= historyLimit {
		annotations[historyAnnotation] = former
	}
}

func (u *rollout) setRevision(text string) bool {
	if u.d.Annotations[revisionAnnotation] == text {
		return false
	}
	u.d.Annotations = with(u.d.Annotations, map[string]string{revisionAnnotation: text})
	return true
}

func with(annotations, others map[string]string) map[string]string {
	out := make(map[string]string, len(annotations)+len(others))
	maps.Copy(out, annotations)
	maps.Copy(out, others)
	return out
}

// create creates the ReplicaSet of the Deployment's template, and stores its revision. The template determines the
// ReplicaSet's name. Therefore the server refuses a second creation if the cache does not show the first one yet.
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

// newSet returns the ReplicaSet of the Deployment's template, with a ControllerRef except in the selector era (LAW-1).
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

func setName(deployment, hash string) string {
	if room := validation.DNS1123SubdomainMaxLength - len("-") - len(hash); len(deployment) > room {
		deployment = deployment[:room]
	}
	return deployment + "-" + hash
}

// taken is called if the ReplicaSet's name already exists. If the Deployment controls the cached ReplicaSet and the
// template is the same, taken returns it. If the cache lacks the ReplicaSet, taken returns the refusal, and the caller
// retries. Otherwise two templates have the same hash, or the Deployment does not control the ReplicaSet. Then taken
// counts a collision, which changes the hash, and returns the refusal (RULES H76). Earlier eras count no collisions,
// and retry the same name forever.
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

// noteFailure records in the status that the ReplicaSet could not be created. It ignores an error of this write.
func (u *rollout) noteFailure(ctx context.Context, name string, err error) {
	if !hasDeadline(u.d) {
		return
	}
	s := u.d.Status
	u.say(&s, appsv1.DeploymentProgressing, corev1.ConditionFalse, createFailed,
		fmt.Sprintf("Failed to create new replica set %q: %v", name, err))
	_ = u.writeStatus(ctx, s)
}
