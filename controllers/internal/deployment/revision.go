package deployment

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// The annotations of a Deployment's ReplicaSets. The Deployment has the first one too.
const (
	revisionAnnotation = "deployment.kubernetes.io/revision"
	historyAnnotation  = "deployment.kubernetes.io/revision-history" // its earlier revisions
	desiredAnnotation  = "deployment.kubernetes.io/desired-replicas" // the Deployment's size when it was last scaled
	maxAnnotation      = "deployment.kubernetes.io/max-replicas"     // ... with the surge
)

// historyLimit limits the characters of earlier revisions.
const historyLimit = 2000

// syncRevision gives the current ReplicaSet the highest revision and the Deployment's annotations and minReadySeconds.
// It gives the Deployment the revision of the ReplicaSet.
//
// A terminating Deployment leaves its ReplicaSets alone (ADOPT-3); upstream still writes here (RULES H77).
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

// nextRevision returns one more than the highest revision of the old ReplicaSets.
func (u *rollout) nextRevision() int64 {
	highest := int64(0)
	for _, rs := range u.old() {
		if n, err := revision(rs); err == nil {
			highest = max(highest, n)
		}
	}
	return highest + 1
}

// revision returns a ReplicaSet's revision, 0 for none.
func revision(rs *appsv1.ReplicaSet) (int64, error) {
	text, ok := rs.Annotations[revisionAnnotation]
	if !ok {
		return 0, nil
	}
	return strconv.ParseInt(text, 10, 64)
}

// annotations returns those of the current ReplicaSet: its own, overridden by the Deployment's, and a revision of at
// least next. It records an earlier revision, because the Deployment has returned to it. If the revision is not a
// number nothing changes.
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

// ofItsOwn reports whether an annotation is not copied between a Deployment and its ReplicaSets.
func ofItsOwn(key string) bool {
	switch key {
	case corev1.LastAppliedConfigAnnotation, appsv1.DeprecatedRollbackTo,
		revisionAnnotation, historyAnnotation, desiredAnnotation, maxAnnotation:
		return true
	}
	return false
}

// addHistory adds an earlier revision, and drops the first ones beyond the limit.
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

// setRevision sets the Deployment's revision, and reports whether it changed.
func (u *rollout) setRevision(text string) bool {
	if u.d.Annotations[revisionAnnotation] == text {
		return false
	}
	u.d.Annotations = with(u.d.Annotations, map[string]string{revisionAnnotation: text})
	return true
}

// with returns a copy of annotations with others set.
func with(annotations, others map[string]string) map[string]string {
	out := make(map[string]string, len(annotations)+len(others))
	maps.Copy(out, annotations)
	maps.Copy(out, others)
	return out
}
