package statefulset

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// cachedClaim is the claim that a pod has by a template, nil when there is none.
func (s *syncing) cachedClaim(template string, ordinal int) *corev1.PersistentVolumeClaim {
	obj, exists, _ := s.claims.GetByKey(s.set.Namespace + "/" + claimName(s.set, template, ordinal))
	if !exists {
		return nil
	}
	return obj.(*corev1.PersistentVolumeClaim)
}

// createClaims makes the claims that a pod lacks, going on after an error. One that is
// being deleted is an error: it is not to be mounted, and its name is not free yet.
// A claim has its owners from the first moment, so that it goes although the set is
// gone before the next sync. Upstream's gets them when it is seen (RULES F67, CORPUS
// D28).
func (s *syncing) createClaims(ctx context.Context, p *corev1.Pod) error {
	var errs []error
	for i := range s.set.Spec.VolumeClaimTemplates {
		template := &s.set.Spec.VolumeClaimTemplates[i]
		name := claimName(s.set, template.Name, ordinal(p))
		if have := s.cachedClaim(template.Name, ordinal(p)); have != nil {
			if have.DeletionTimestamp != nil {
				errs = append(errs, fmt.Errorf("pvc %s is being deleted", name))
			}
			continue
		}
		claim := *template
		claim.Name, claim.Namespace = name, s.set.Namespace
		claim.Labels = maps.Clone(template.Labels)
		if claim.Labels == nil {
			claim.Labels = map[string]string{}
		}
		maps.Copy(claim.Labels, s.set.Spec.Selector.MatchLabels)
		if s.options.Era == Current && !s.options.Without.ClaimLater {
			claim.OwnerReferences = s.owners(&claim, p)
		}
		obj, err := s.env.Client.Create(ctx, &claim)
		if err != nil {
			errs = append(errs, fmt.Errorf("failed to create PVC %s: %w", name, err))
			continue
		}
		s.written.Wrote(s.key, s.set.UID, claimKind, obj.(*corev1.PersistentVolumeClaim))
	}
	return utilerrors.NewAggregate(errs)
}

// ensureClaims makes the claims of a pod that has not started, and gives them owners.
func (s *syncing) ensureClaims(ctx context.Context, p *corev1.Pod) error {
	if err := s.createClaims(ctx, p); err != nil {
		return err
	}
	return s.ownClaims(ctx, p)
}

// settleClaims gives the claims of a pod that is not wanted their owners, before it is
// deleted.
func (s *syncing) settleClaims(ctx context.Context, p *corev1.Pod, _ *arrangement) (bool, error) {
	if s.options.Without.GoingSeen && p.DeletionTimestamp == nil {
		return false, nil
	}
	return false, s.ownClaims(ctx, p)
}

// ownClaims gives a pod's claims, such as the cache has, the owners that the set's
// policy asks for.
func (s *syncing) ownClaims(ctx context.Context, p *corev1.Pod) error {
	if s.options.Era != Current {
		return nil
	}
	for i := range s.set.Spec.VolumeClaimTemplates {
		claim := s.cachedClaim(s.set.Spec.VolumeClaimTemplates[i].Name, ordinal(p))
		if claim == nil || s.rightlyOwned(claim, p) {
			continue
		}
		changed := *claim
		changed.OwnerReferences = s.owners(claim, p)
		obj, err := s.env.Client.Update(ctx, &changed)
		if err != nil {
			return fmt.Errorf("could not update claim %s for delete policy ownerRefs: %w", claim.Name, err)
		}
		s.written.Wrote(s.key, s.set.UID, claimKind, obj.(*corev1.PersistentVolumeClaim))
	}
	return nil
}

// claimIsStale reports whether one of the claims that a pod is to have belongs to an
// earlier pod of the name, and is about to go with it: the pod is made when it has
// gone (RULES F66).
func (s *syncing) claimIsStale(p *corev1.Pod) bool {
	if scaled, _ := policy(s.set); !scaled || s.options.Era != Current || s.options.Without.StaleClaim {
		return false
	}
	for i := range s.set.Spec.VolumeClaimTemplates {
		claim := s.cachedClaim(s.set.Spec.VolumeClaimTemplates[i].Name, ordinal(p))
		if claim != nil && namesakeOwns(claim, p, pod.Kind) {
			return true
		}
	}
	return false
}
