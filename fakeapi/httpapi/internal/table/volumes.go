package table

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func attachmentCells(o *storagev1.VolumeAttachment, now time.Time) []any {
	volume := ""
	if o.Spec.Source.PersistentVolumeName != nil {
		volume = *o.Spec.Source.PersistentVolumeName
	}
	return []any{o.Name, o.Spec.Attacher, volume, o.Spec.NodeName, o.Status.Attached, since(o.CreationTimestamp, now)}
}

func orUnset[T ~string](p *T) string {
	if p == nil {
		return "<unset>"
	}
	return string(*p)
}

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
	return []any{o.Name, size.String(), accessModes(o.Spec.AccessModes), string(o.Spec.PersistentVolumeReclaimPolicy),
		phase, claim, name, orUnset(o.Spec.VolumeAttributesClassName), o.Status.Reason,
		since(o.CreationTimestamp, now), orUnset(o.Spec.VolumeMode)}
}

func classCells(o *storagev1.StorageClass, now time.Time) []any {
	return []any{byDefault(o, "storageclass.kubernetes.io/is-default-class",
		"storageclass.beta.kubernetes.io/is-default-class"), o.Provisioner, orUnset(o.ReclaimPolicy),
		orUnset(o.VolumeBindingMode), isTrue(o.AllowVolumeExpansion), since(o.CreationTimestamp, now)}
}

func isTrue(p *bool) bool { return p != nil && *p }

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
	return []any{o.Name, isTrue(s.AttachRequired), isTrue(s.PodInfoOnMount), isTrue(s.StorageCapacity), audiences,
		isTrue(s.RequiresRepublish), orNone(strings.Join(modes, ",")), since(o.CreationTimestamp, now)}
}

func claimCells(o *corev1.PersistentVolumeClaim, now time.Time) []any {
	phase, class, attributes, mode := string(o.Status.Phase), "", "<unset>", "<unset>"
	if o.DeletionTimestamp != nil {
		phase = "Terminating"
	}
	if beta, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = beta
	} else if o.Spec.StorageClassName != nil {
		class = *o.Spec.StorageClassName
	}
	if o.Spec.VolumeAttributesClassName != nil {
		attributes = *o.Spec.VolumeAttributesClassName
	}
	if o.Spec.VolumeMode != nil {
		mode = string(*o.Spec.VolumeMode)
	}
	capacity, modes := "", ""
	if o.Spec.VolumeName != "" {
		size := o.Status.Capacity[corev1.ResourceStorage]
		capacity, modes = size.String(), accessModes(o.Status.AccessModes)
	}
	return []any{o.Name, phase, o.Spec.VolumeName, capacity, modes, class, attributes,
		since(o.CreationTimestamp, now), mode}
}

// shortModes are the names of access modes in a table, in the order in which
// they are shown.
var shortModes = []struct {
	mode corev1.PersistentVolumeAccessMode
	name string
}{
	{corev1.ReadWriteOnce, "RWO"},
	{corev1.ReadOnlyMany, "ROX"},
	{corev1.ReadWriteMany, "RWX"},
	{corev1.ReadWriteOncePod, "RWOP"},
}

func accessModes(modes []corev1.PersistentVolumeAccessMode) string {
	var short []string
	for _, m := range shortModes {
		if slices.Contains(modes, m.mode) {
			short = append(short, m.name)
		}
	}
	return strings.Join(short, ",")
}

func csiNodeCells(o *storagev1.CSINode, now time.Time) []any {
	return []any{o.Name, int64(len(o.Spec.Drivers)), since(o.CreationTimestamp, now)}
}

func attributesClassCells(o *storagev1.VolumeAttributesClass, now time.Time) []any {
	return []any{o.Name, o.DriverName, since(o.CreationTimestamp, now)}
}
