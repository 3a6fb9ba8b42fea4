package validation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WarnClaim warns of a class in an annotation, and of fractions of bytes.
func WarnClaim(c *corev1.PersistentVolumeClaim) (all []string) {
	if _, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		all = append(all, fmt.Sprintf("%s: deprecated since v1.8; use \"storageClassName\" attribute instead",
			field.NewPath("metadata", "annotations").Key(corev1.BetaStorageClassAnnotation)))
	}
	return append(all, WarnClaimSpec(&c.Spec, specPath)...)
}

// WarnClaimSpec warns of fractions of bytes.
func WarnClaimSpec(s *corev1.PersistentVolumeClaimSpec, path *field.Path) []string {
	all := warnFraction(s.Resources.Requests, corev1.ResourceStorage,
		func() *field.Path { return path.Child("resources").Child("requests") })
	return append(all, warnFraction(s.Resources.Limits, corev1.ResourceStorage,
		func() *field.Path { return path.Child("resources").Child("limits") })...)
}

// WarnVolume warns of what volumes said and had once.
func WarnVolume(v *corev1.PersistentVolume) (all []string) {
	s := &v.Spec
	for _, a := range [...]struct{ key, text string }{
		{corev1.BetaStorageClassAnnotation, `deprecated since v1.8; use "storageClassName" attribute instead`},
		{corev1.MountOptionAnnotation, `deprecated since v1.31; use "mountOptions" attribute instead`},
	} {
		if _, ok := v.Annotations[a.key]; ok {
			all = append(all, fmt.Sprintf("%s: %s", field.NewPath("metadata", "annotations").Key(a.key), a.text))
		}
	}
	if s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		all = append(all,
			fmt.Sprintf("%s: The Recycle reclaim policy is deprecated. Instead, the recommended approach "+
				"is to use dynamic provisioning.", specPath.Child("persistentVolumeReclaimPolicy")))
	}
	if a := s.NodeAffinity; a != nil && a.Required != nil {
		for i := range a.Required.NodeSelectorTerms {
			all = append(all, warnNodeTerm(&a.Required.NodeSelectorTerms[i], false,
				specPath.Child("nodeAffinity", "required", "nodeSelectorTerms").Index(i))...)
		}
	}
	for _, gone := range [...]struct {
		is         bool
		name, text string
	}{
		{s.CephFS != nil, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{s.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{s.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{s.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{s.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{s.RBD != nil, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if gone.is {
			all = append(all, fmt.Sprintf("%s: %s", specPath.Child(gone.name), gone.text))
		}
	}
	return all
}

// WarnStorageClass warns of old labels of nodes in topologies.
func WarnStorageClass(c *storagev1.StorageClass) (all []string) {
	for i := range c.AllowedTopologies {
		for j, e := range c.AllowedTopologies[i].MatchLabelExpressions {
			if text, old := oldNodeLabels[e.Key]; old {
				all = append(all, fmt.Sprintf("%s: %s", field.NewPath("allowedTopologies").Index(i).
					Child("matchLabelExpressions").Index(j).Child("key"), text))
			}
		}
	}
	return all
}

// WarnCapacity warns of old labels of nodes in the topology.
func WarnCapacity(c *storagev1.CSIStorageCapacity) (all []string) {
	if c.NodeTopology == nil {
		return nil
	}
	path := field.NewPath("nodeTopology")
	for i, e := range c.NodeTopology.MatchExpressions {
		if text, old := oldNodeLabels[e.Key]; old {
			all = append(all, fmt.Sprintf("%s: %s is %s", path.Child("matchExpressions").Index(i).Child("key"), e.Key,
				text))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.NodeTopology.MatchLabels)) {
		if text, old := oldNodeLabels[key]; old {
			all = append(all, fmt.Sprintf("%s: %s", path.Child("matchLabels").Child(key), text))
		}
	}
	return all
}

// WarnRuntimeClass warns of old labels of nodes.
func WarnRuntimeClass(c *nodev1.RuntimeClass) (all []string) {
	if c.Scheduling == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(c.Scheduling.NodeSelector)) {
		if text, old := oldNodeLabels[key]; old {
			all = append(all, fmt.Sprintf("%s: %s", field.NewPath("scheduling", "nodeSelector"), text))
		}
	}
	return all
}

// WarnCSIDriver warns of a driver that wants tokens and does not say where; old is nil for a new one.
func WarnCSIDriver(d, old *storagev1.CSIDriver) []string {
	if len(d.Spec.TokenRequests) == 0 || d.Spec.ServiceAccountTokenInSecrets != nil ||
		old != nil && equality.Semantic.DeepEqual(old.Spec.TokenRequests, d.Spec.TokenRequests) {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true " +
		"to prevent possible logging of tokens in volume attributes"}
}
