package table

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

var (
	claimSpec   = corev1.PersistentVolumeClaimSpec{}.SwaggerDoc()
	claimStatus = corev1.PersistentVolumeClaimStatus{}.SwaggerDoc()

	claims = prints(claimCells, nameColumn, text("Status", claimStatus["phase"]),
		text("Volume", claimSpec["volumeName"]), text("Capacity", claimStatus["capacity"]),
		text("Access Modes", claimStatus["accessModes"]),
		text("StorageClass", "StorageClass of the pvc"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pvc"), ageColumn,
		wide("VolumeMode", claimSpec["volumeMode"]))
)

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
