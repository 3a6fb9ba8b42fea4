package registry

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Classes, drivers and attachments of volumes: nothing here provisions or attaches.

var storageClasses = goType[storagev1.StorageClass, storagev1.StorageClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("StorageClass"),
	Resource: "storageclasses", Singular: "storageclass", ShortNames: []string{"sc"}, ReturnDeleted: true,
	Default: On(func(c *storagev1.StorageClass) {
		orDefault(&c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		orDefault(&c.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.StorageClass),
		Main: Update{
			Validate: Compare(validation.StorageClassUpdate), again: checks{onCreate}, after: checks{onUpdate},
		},
	},
})

var csiDrivers = goType[storagev1.CSIDriver, storagev1.CSIDriverList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSIDriver"), Resource: "csidrivers", Singular: "csidriver",
	ReturnDeleted: true, MustVersion: true, Default: On(defaultDriver),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.CSIDriver),
		Main: Update{
			Prepare:  Recount(func(d *storagev1.CSIDriver) any { return d.Spec }),
			Validate: Compare(validation.CSIDriverUpdate), again: checks{onUpdate},
		},
	},
})

func defaultDriver(d *storagev1.CSIDriver) {
	s := &d.Spec
	orDefault(&s.AttachRequired, true)
	orDefault(&s.PodInfoOnMount, false)
	orDefault(&s.StorageCapacity, false)
	orDefault(&s.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(s.VolumeLifecycleModes) == 0 {
		s.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	orDefault(&s.RequiresRepublish, false)
	orDefault(&s.SELinuxMount, false)
}

var csiNodes = goType[storagev1.CSINode, storagev1.CSINodeList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSINode"), Resource: "csinodes", Singular: "csinode",
	ReturnDeleted: true, MustVersion: true,
	strategy: strategy{NameRule: apivalidation.NameIsDNSSubdomain, Main: Update{again: checks{onCreate}}},
})

var csiCapacities = goType[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"),
	Resource: "csistoragecapacities", Singular: "csistoragecapacity", Namespaced: true, MustVersion: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.CSICapacity),
		Main: Update{
			Validate: Compare(validation.CSICapacityUpdate), again: checks{onCreate}, after: checks{onUpdate},
		},
	},
})

var volumeAttachments = goType[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"),
	Resource: "volumeattachments", Singular: "volumeattachment",
	Status: true, ReturnDeleted: true, MustVersion: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(a *storagev1.VolumeAttachment) {
			a.Status = storagev1.VolumeAttachmentStatus{}
		}),
		Main: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) { a.Status = old.Status }),
			again:   checks{onCreate},
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) {
				a.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(a, old)
			}),
			again: checks{onCreate},
		},
		ResetByStatus: wholeMetadata,
	},
})

var volumeAttributesClasses = goType[storagev1.VolumeAttributesClass, storagev1.VolumeAttributesClassList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttributesClass"),
	Resource: "volumeattributesclasses", Singular: "volumeattributesclass", ShortNames: []string{"vac"},
	ReturnDeleted: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, Admit: protect("kubernetes.io/vac-protection"),
		ValidateCreate: Check(validation.AttributesClass),
		Main: Update{
			Validate: Compare(validation.AttributesClassUpdate), again: checks{onUpdate}, after: checks{onCreate},
		},
	},
})
