package statefulset

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// create makes a pod, after its claims. That its name is taken is an error: whoever
// has it keeps it (RULES F64).
func (s *syncing) create(ctx context.Context, p *corev1.Pod) error {
	if err := s.createClaims(ctx, p); err != nil {
		return err
	}
	_, err := s.env.Client.Create(ctx, p)
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	if claimErr := s.ownClaims(ctx, p); claimErr != nil {
		return claimErr
	}
	return err
}

// delete deletes this incarnation of a pod (EXACT-4); upstream's deletes whatever has
// the name. One that is gone already is as good as deleted.
func (s *syncing) delete(ctx context.Context, p *corev1.Pod) error {
	var only metav1.DeleteOptions
	if s.options.Era == Current && !s.options.Without.VictimUID {
		only.Preconditions = &metav1.Preconditions{UID: &p.UID}
	}
	err := s.env.Client.Delete(ctx, pod.Kind, p.Namespace, p.Name, only)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// attempts is how often a pod is written that is refused for a conflict.
const attempts = 4

// mend puts back what makes a pod this one of the set's: labels, volumes, the owners
// of its claims. After a conflict it tries again on the pod as the cache has it by
// then, unless that is another one, or the set's no more (LAW-2, EXACT-4). Upstream's
// takes whatever has the name.
func (s *syncing) mend(ctx context.Context, p *corev1.Pod) error {
	var err error
	for range attempts {
		if err = s.mendOnce(ctx, p); !apierrors.IsConflict(err) {
			return err
		}
		obj, exists, _ := s.pods.GetByKey(p.Namespace + "/" + nameOf(s.set, ordinal(p)))
		if !exists {
			continue
		}
		later := obj.(*corev1.Pod)
		if (later.UID != p.UID || !metav1.IsControlledBy(later, s.set)) && !s.options.Without.SamePod {
			return err
		}
		p = later
	}
	return err
}

func (s *syncing) mendOnce(ctx context.Context, p *corev1.Pod) error {
	changed := *p
	right := identified(s.set, p)
	if !right {
		identify(s.set, &changed)
	}
	if !mounted(s.set, p) {
		right = false
		mount(s.set, &changed)
		if err := s.createClaims(ctx, p); err != nil {
			return err
		}
	}
	if err := s.ownClaims(ctx, p); err != nil || right {
		return err
	}
	_, err := s.env.Client.Update(ctx, &changed)
	return err
}
