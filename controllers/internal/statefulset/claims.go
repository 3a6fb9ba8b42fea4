package statefulset

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

func (s *syncing) cachedClaim(template string, ordinal int) *corev1.PersistentVolumeClaim {
	obj, exists, _ := s.claims.GetByKey(s.set.Namespace + "/" + claimName(s.set, template, ordinal))
	if !exists {
		return nil
	}
	return obj.(*corev1.PersistentVolumeClaim)
}

// createClaims creates the claims that a pod lacks, and continues after an error. A terminating claim is an error,
// because it must not be mounted and its name is taken. In the current era, a new claim has its owners at once: the
// set may be gone before the next reconcile. Upstream adds owners later (RULES F67, bug D28).
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

// ensureClaims creates the claims of a pod that has not started, and sets their owners.
func (s *syncing) ensureClaims(ctx context.Context, p *corev1.Pod) error {
	if err := s.createClaims(ctx, p); err != nil {
		return err
	}
	return s.ownClaims(ctx, p)
}

// settleClaims is called before an unwanted pod is deleted. It sets the owners of the pod's claims.
func (s *syncing) settleClaims(ctx context.Context, p *corev1.Pod, _ *arrangement) (bool, error) {
	if s.options.Without.GoingSeen && p.DeletionTimestamp == nil {
		return false, nil
	}
	return false, s.ownClaims(ctx, p)
}

// ownClaims sets the owners of a pod's cached claims by the set's [policy]. Before the current era it does nothing.
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

// claimIsStale reports whether an earlier pod with the same name owns a claim of p, and scaling down deletes claims.
// Such a claim will be deleted, and the creation of p must wait for that (RULES F66).
func (s *syncing) claimIsStale(p *corev1.Pod) bool {
	if scaled, _ := policy(s.set); !scaled || s.options.Era != Current || s.options.Without.StaleClaim {
		return false
	}
	for i := range s.set.Spec.VolumeClaimTemplates {
		claim := s.cachedClaim(s.set.Spec.VolumeClaimTemplates[i].Name, ordinal(p))
		if claim != nil && recreatedOwns(claim, p, pod.Kind) {
			return true
		}
	}
	return false
}

// policy returns whether a set's claims are deleted when the set is scaled down, and when the set is deleted.
func policy(set *appsv1.StatefulSet) (whenScaled, whenDeleted bool) {
	const gone = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	p := set.Spec.PersistentVolumeClaimRetentionPolicy
	return p != nil && p.WhenScaled == gone, p != nil && p.WhenDeleted == gone
}

// claimOwners returns whether the pod or the set should own a pod's claims. The pod should own them if it is unwanted
// and scaling down deletes claims. Otherwise the set should own them if deleting the set deletes claims (RULES F65).
func claimOwners(set *appsv1.StatefulSet, p *corev1.Pod) (ofPod, ofSet bool) {
	whenScaled, whenDeleted := policy(set)
	ofPod = whenScaled && !wants(set, ordinal(p))
	return ofPod, whenDeleted && !ofPod
}

// rightlyOwned reports whether the owners of a pod's claim need no change. A claim of an earlier set or pod is left to
// the garbage collector (ADOPT-8). A claim of another controller must not have the set or the pod as owner (LAW-2).
func (s *syncing) rightlyOwned(claim *corev1.PersistentVolumeClaim, p *corev1.Pod) bool {
	if (recreatedOwns(claim, s.set, Kind) || recreatedOwns(claim, p, pod.Kind)) && !s.options.Without.Recreated {
		return true
	}
	ofSet, ofPod := owner(claim, s.set), owner(claim, p)
	if s.strange(claim, p) {
		return ofSet == nil && ofPod == nil
	}
	if ofSet != nil && !controls(ofSet) || ofPod != nil && !controls(ofPod) {
		return false
	}
	wantPod, wantSet := claimOwners(s.set, p)
	return (ofPod != nil) == wantPod && (ofSet != nil) == wantSet
}

// owners returns the owners that a pod's claim should have. It keeps other owners.
func (s *syncing) owners(claim *corev1.PersistentVolumeClaim, p *corev1.Pod) []metav1.OwnerReference {
	refs := make([]metav1.OwnerReference, 0, len(claim.OwnerReferences)+1)
	for i := range claim.OwnerReferences {
		if r := &claim.OwnerReferences[i]; !names(r, s.set, Kind) && !names(r, p, pod.Kind) {
			refs = append(refs, *r)
		}
	}
	if s.strange(claim, p) {
		return refs
	}
	switch ofPod, ofSet := claimOwners(s.set, p); {
	case ofPod:
		refs = append(refs, *metav1.NewControllerRef(p, pod.Kind))
	case ofSet:
		refs = append(refs, *metav1.NewControllerRef(s.set, Kind))
	}
	return refs
}

// strange reports whether another controller owns a claim, or an earlier set or pod with the same name.
func (s *syncing) strange(claim *corev1.PersistentVolumeClaim, p *corev1.Pod) bool {
	if s.options.Without.Strange {
		return false
	}
	return slices.ContainsFunc(claim.OwnerReferences, func(r metav1.OwnerReference) bool {
		switch {
		case names(&r, s.set, Kind):
			return r.UID != s.set.UID
		case names(&r, p, pod.Kind):
			return r.UID != p.UID
		}
		return controls(&r)
	})
}

// recreatedOwns reports whether a claim has an owner with the kind and name of obj but another uid.
func recreatedOwns(claim *corev1.PersistentVolumeClaim, obj metav1.Object, kind schema.GroupVersionKind) bool {
	for i := range claim.OwnerReferences {
		if r := &claim.OwnerReferences[i]; names(r, obj, kind) {
			return r.UID != obj.GetUID()
		}
	}
	return false
}

func names(r *metav1.OwnerReference, obj metav1.Object, kind schema.GroupVersionKind) bool {
	return r.Kind == kind.Kind && r.APIVersion == kind.GroupVersion().String() && r.Name == obj.GetName()
}

func owner(claim *corev1.PersistentVolumeClaim, obj metav1.Object) *metav1.OwnerReference {
	for i := range claim.OwnerReferences {
		if r := &claim.OwnerReferences[i]; r.UID == obj.GetUID() {
			return r
		}
	}
	return nil
}

func controls(r *metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }
