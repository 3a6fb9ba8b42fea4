package statefulset

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/controllers/internal/pod"
)

// policy is whether a set's claims go when it is scaled down, and when it is deleted.
func policy(set *appsv1.StatefulSet) (whenScaled, whenDeleted bool) {
	const gone = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	p := set.Spec.PersistentVolumeClaimRetentionPolicy
	return p != nil && p.WhenScaled == gone, p != nil && p.WhenDeleted == gone
}

// heirs are who is to own the claims of a pod: the pod, once it is not wanted and its
// claims are to go with it; otherwise the set, if they are to go with that; or nobody
// (RULES F65).
func heirs(set *appsv1.StatefulSet, p *corev1.Pod) (ofPod, ofSet bool) {
	whenScaled, whenDeleted := policy(set)
	ofPod = whenScaled && !wants(set, ordinal(p))
	return ofPod, whenDeleted && !ofPod
}

// rightlyOwned reports whether nothing is to be done about the owners of a pod's
// claim. A claim of an earlier set or pod of the name is left to the garbage
// collector (ADOPT-8), and one that somebody else controls to him (LAW-2).
func (s *syncing) rightlyOwned(claim *corev1.PersistentVolumeClaim, p *corev1.Pod) bool {
	if (namesakeOwns(claim, s.set, Kind) || namesakeOwns(claim, p, pod.Kind)) && !s.options.Without.Namesake {
		return true
	}
	ofSet, ofPod := owner(claim, s.set), owner(claim, p)
	if s.strange(claim, p) {
		return ofSet == nil && ofPod == nil
	}
	if ofSet != nil && !controls(ofSet) || ofPod != nil && !controls(ofPod) {
		return false
	}
	wantPod, wantSet := heirs(s.set, p)
	return (ofPod != nil) == wantPod && (ofSet != nil) == wantSet
}

// owners are the owners that a pod's claim is to have: those of others, and of the set
// and the pod the one that is to be.
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
	switch ofPod, ofSet := heirs(s.set, p); {
	case ofPod:
		refs = append(refs, *metav1.NewControllerRef(p, pod.Kind))
	case ofSet:
		refs = append(refs, *metav1.NewControllerRef(s.set, Kind))
	}
	return refs
}

// strange reports whether somebody else controls a claim, which then cannot go with the set or
// the pod. Where claims are kept it makes no difference who does.
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

// namesakeOwns reports whether the first owner of an object's name and kind is another
// incarnation of it.
func namesakeOwns(claim *corev1.PersistentVolumeClaim, obj metav1.Object, kind schema.GroupVersionKind) bool {
	for i := range claim.OwnerReferences {
		if r := &claim.OwnerReferences[i]; names(r, obj, kind) {
			return r.UID != obj.GetUID()
		}
	}
	return false
}

// names reports whether a reference is to an object of this kind and name, whichever.
func names(r *metav1.OwnerReference, obj metav1.Object, kind schema.GroupVersionKind) bool {
	return r.Kind == kind.Kind && r.APIVersion == kind.GroupVersion().String() && r.Name == obj.GetName()
}

// owner is the reference to an object, by its uid.
func owner(claim *corev1.PersistentVolumeClaim, obj metav1.Object) *metav1.OwnerReference {
	for i := range claim.OwnerReferences {
		if r := &claim.OwnerReferences[i]; r.UID == obj.GetUID() {
			return r
		}
	}
	return nil
}

func controls(r *metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }
