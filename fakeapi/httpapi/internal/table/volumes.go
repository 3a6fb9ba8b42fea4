package table

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/utils/ptr"
)

func orUnset[T ~string](p *T) string { return string(ptr.Deref(p, "<unset>")) }

func volumeCells(o *corev1.PersistentVolume, now time.Time) []any {
	claim, phase, name := "", string(o.Status.Phase), o.Spec.StorageClassName
	if ref := o.Spec.ClaimRef; ref != nil {
		claim = ref.Namespace + "/" + ref.Name
	}
	if o.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	if beta, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		name = beta
	}
	size := o.Spec.Capacity[corev1.ResourceStorage]
	return []any{o.Name, size.String(), helper.GetAccessModesAsString(o.Spec.AccessModes), string(o.Spec.PersistentVolumeReclaimPolicy),
		phase, claim, name, orUnset(o.Spec.VolumeAttributesClassName), o.Status.Reason,
		since(o.CreationTimestamp, now), orUnset(o.Spec.VolumeMode)}
}

func classCells(o *storagev1.StorageClass, now time.Time) []any {
	return []any{byDefault(o, "storageclass.kubernetes.io/is-default-class",
		"storageclass.beta.kubernetes.io/is-default-class"), o.Provisioner, orUnset(o.ReclaimPolicy),
		orUnset(o.VolumeBindingMode), ptr.Deref(o.AllowVolumeExpansion, false), since(o.CreationTimestamp, now)}
}

func driverCells(o *storagev1.CSIDriver, now time.Time) []any {
	s, audiences, modes := &o.Spec, "<unset>", make([]string, len(o.Spec.VolumeLifecycleModes))
	if s.TokenRequests != nil {
		all := make([]string, len(s.TokenRequests))
		for i, t := range s.TokenRequests {
			all[i] = t.Audience
		}
		audiences = strings.Join(all, ",")
	}
	for i, m := range s.VolumeLifecycleModes {
		modes[i] = string(m)
	}
	return []any{o.Name, ptr.Deref(s.AttachRequired, false), ptr.Deref(s.PodInfoOnMount, false), ptr.Deref(s.StorageCapacity, false), audiences,
		ptr.Deref(s.RequiresRepublish, false), orNone(strings.Join(modes, ",")), since(o.CreationTimestamp, now)}
}

func claimCells(o *corev1.PersistentVolumeClaim, now time.Time) []any {
	phase, class := string(o.Status.Phase), ptr.Deref(o.Spec.StorageClassName, "")
	if o.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	if beta, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = beta
	}
	capacity, modes := "", ""
	if o.Spec.VolumeName != "" {
		size := o.Status.Capacity[corev1.ResourceStorage]
		capacity, modes = size.String(), helper.GetAccessModesAsString(o.Status.AccessModes)
	}
	return []any{o.Name, phase, o.Spec.VolumeName, capacity, modes, class,
		orUnset(o.Spec.VolumeAttributesClassName), since(o.CreationTimestamp, now), orUnset(o.Spec.VolumeMode)}
}
