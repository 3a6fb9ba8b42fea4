package table

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

var (
	volumeSpec = corev1.PersistentVolumeSpec{}.SwaggerDoc()
	class      = storagev1.StorageClass{}.SwaggerDoc()
	driver     = storagev1.CSIDriverSpec{}.SwaggerDoc()
	volume     = corev1.PersistentVolumeStatus{}.SwaggerDoc()

	persistentVolumes = prints(volumeCells, nameColumn, text("Capacity", volumeSpec["capacity"]),
		text("Access Modes", volumeSpec["accessModes"]),
		text("Reclaim Policy", volumeSpec["persistentVolumeReclaimPolicy"]), text("Status", volume["phase"]),
		text("Claim", volumeSpec["claimRef"]), text("StorageClass", "StorageClass of the pv"),
		text("VolumeAttributesClass", "VolumeAttributesClass of the pv"), text("Reason", volume["reason"]), ageColumn,
		wide("VolumeMode", volumeSpec["volumeMode"]))
	storageClasses = prints(classCells, nameColumn, text("Provisioner", class["provisioner"]),
		text("ReclaimPolicy", class["reclaimPolicy"]), text("VolumeBindingMode", class["volumeBindingMode"]),
		text("AllowVolumeExpansion", class["allowVolumeExpansion"]), ageColumn)
	csiDrivers = prints(driverCells, nameColumn, flag("AttachRequired", driver["attachRequired"]),
		flag("PodInfoOnMount", driver["podInfoOnMount"]), flag("StorageCapacity", driver["storageCapacity"]),
		text("TokenRequests", driver["tokenRequests"]), flag("RequiresRepublish", driver["requiresRepublish"]),
		text("Modes", driver["volumeLifecycleModes"]), ageColumn)
	csiNodes = prints(func(o *storagev1.CSINode, now time.Time) []any {
		return []any{o.Name, int64(len(o.Spec.Drivers)), since(o.CreationTimestamp, now)}
	}, nameColumn, number("Drivers", "Drivers indicates the number of CSI drivers registered on the node"), ageColumn)

	attachment  = storagev1.VolumeAttachmentSpec{}.SwaggerDoc()
	attachments = prints(attachmentCells, nameColumn,
		column{Name: "Attacher", Type: "string", Format: "name", Description: attachment["attacher"]},
		text("PV", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"]),
		text("Node", attachment["nodeName"]),
		flag("Attached", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"]), ageColumn)
	attributesClasses = prints(func(o *storagev1.VolumeAttributesClass, now time.Time) []any {
		return []any{o.Name, o.DriverName, since(o.CreationTimestamp, now)}
	}, nameColumn, text("DriverName", storagev1.VolumeAttributesClass{}.SwaggerDoc()["driverName"]), ageColumn)
)

func attachmentCells(o *storagev1.VolumeAttachment, now time.Time) []any {
	volume := ""
	if o.Spec.Source.PersistentVolumeName != nil {
		volume = *o.Spec.Source.PersistentVolumeName
	}
	return []any{o.Name, o.Spec.Attacher, volume, o.Spec.NodeName, o.Status.Attached, since(o.CreationTimestamp, now)}
}

func flag(name, description string) column {
	return column{Name: name, Type: "boolean", Description: description}
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
