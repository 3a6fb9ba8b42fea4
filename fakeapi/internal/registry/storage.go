package registry

import (
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagedefaults "k8s.io/kubernetes/pkg/apis/storage/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Classes, drivers and attachments of volumes: nothing here provisions or attaches.

var storageClasses = goType[storagev1.StorageClass, storagev1.StorageClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("StorageClass"),
	Resource: "storageclasses", Singular: "storageclass", ShortNames: []string{"sc"}, ReturnDeleted: true,
	Default: On(storagedefaults.SetObjectDefaults_StorageClass),
	strategy: strategy{
		Create: validation.StorageClass.Create,
		Main: Update{
			Judge: validation.StorageClass.Update,
		},
	},
})

var csiDrivers = goType[storagev1.CSIDriver, storagev1.CSIDriverList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSIDriver"), Resource: "csidrivers", Singular: "csidriver",
	ReturnDeleted: true, MustVersion: true, Default: On(storagedefaults.SetObjectDefaults_CSIDriver),
	strategy: strategy{
		Create: validation.CSIDriver.Create,
		// The feature is off by default.
		PrepareCreate: On(func(d *storagev1.CSIDriver) { d.Spec.PreventPodSchedulingIfMissing = nil }),
		Main: Update{
			Prepare: both(Over(func(d, old *storagev1.CSIDriver) {
				if old.Spec.PreventPodSchedulingIfMissing == nil {
					d.Spec.PreventPodSchedulingIfMissing = nil
				}
			}), Recount(func(d *storagev1.CSIDriver) any { return d.Spec })),
			Judge: validation.CSIDriver.Update,
		},
	},
})

var csiNodes = goType[storagev1.CSINode, storagev1.CSINodeList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSINode"), Resource: "csinodes", Singular: "csinode",
	ReturnDeleted: true, MustVersion: true,
	strategy: strategy{
		Create:       validation.CSINode.Create,
		Canonicalize: asStored,
		Main:         Update{Judge: validation.CSINode.Update},
	},
})

var csiCapacities = goType[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"),
	Resource: "csistoragecapacities", Singular: "csistoragecapacity", Namespaced: true, MustVersion: true,
	strategy: strategy{
		Create: validation.CSIStorageCapacity.Create,
		Main: Update{
			Judge: validation.CSIStorageCapacity.Update,
		},
	},
})

var volumeAttachments = goType[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"),
	Resource: "volumeattachments", Singular: "volumeattachment",
	Status: true, ReturnDeleted: true, MustVersion: true,
	Default: On(storagedefaults.SetObjectDefaults_VolumeAttachment),
	strategy: strategy{
		PrepareCreate: On(func(a *storagev1.VolumeAttachment) {
			a.Status = storagev1.VolumeAttachmentStatus{}
		}),
		Create: validation.VolumeAttachment.Create,
		Main: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) { a.Status = old.Status }),
			Judge:   validation.VolumeAttachment.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) {
				a.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(a, old)
			}),
			Judge: validation.VolumeAttachment.Update,
		},
		ResetByStatus: wholeMetadata,
	},
})

var volumeAttributesClasses = goType[storagev1.VolumeAttributesClass, storagev1.VolumeAttributesClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttributesClass"),
	Resource: "volumeattributesclasses", Singular: "volumeattributesclass", ShortNames: []string{"vac"},
	ReturnDeleted: true,
	strategy: strategy{
		Admit:  protect("kubernetes.io/vac-protection"),
		Plugin: "StorageObjectInUseProtection",
		Create: validation.VolumeAttributesClass.Create,
		Main: Update{
			Judge: validation.VolumeAttributesClass.Update,
		},
	},
})
