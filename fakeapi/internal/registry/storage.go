package registry

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

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
		WarnCreate: Warns(validation.WarnStorageClass),
		Main: Update{
			Validate: Compare(validation.StorageClassUpdate), again: checks{onCreate}, after: checks{onUpdate},
			Warn: WarnsAgain(validation.WarnStorageClass),
		},
	},
})

var csiDrivers = goType[storagev1.CSIDriver, storagev1.CSIDriverList](&Kind{
	GVK: storagev1.SchemeGroupVersion.WithKind("CSIDriver"), Resource: "csidrivers", Singular: "csidriver",
	ReturnDeleted: true, MustVersion: true, Default: On(defaultDriver),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.CSIDriver),
		// The feature is off by default.
		PrepareCreate: On(func(d *storagev1.CSIDriver) { d.Spec.PreventPodSchedulingIfMissing = nil }),
		WarnCreate:    Warns(func(d *storagev1.CSIDriver) []string { return validation.WarnCSIDriver(d, nil) }),
		Main: Update{
			Prepare: both(Over(func(d, old *storagev1.CSIDriver) {
				if old.Spec.PreventPodSchedulingIfMissing == nil {
					d.Spec.PreventPodSchedulingIfMissing = nil
				}
			}), Recount(func(d *storagev1.CSIDriver) any { return d.Spec })),
			Validate: Compare(validation.CSIDriverUpdate), again: checks{onUpdate},
			Warn: func(obj, old runtime.Object) []string {
				return validation.WarnCSIDriver(obj.(*storagev1.CSIDriver), old.(*storagev1.CSIDriver))
			},
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
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.CSINode),
		Canonicalize: asStored,
		Main:         Update{Validate: Compare(validation.CSINodeUpdate), again: checks{onCreate}},
	},
})

var csiCapacities = goType[storagev1.CSIStorageCapacity, storagev1.CSIStorageCapacityList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("CSIStorageCapacity"),
	Resource: "csistoragecapacities", Singular: "csistoragecapacity", Namespaced: true, MustVersion: true,
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain, ValidateCreate: Check(validation.CSICapacity),
		WarnCreate: Warns(validation.WarnCapacity),
		Main: Update{
			Validate: Compare(validation.CSICapacityUpdate), again: checks{onCreate}, after: checks{onUpdate},
			Warn: WarnsAgain(validation.WarnCapacity),
		},
	},
})

var volumeAttachments = goType[storagev1.VolumeAttachment, storagev1.VolumeAttachmentList](&Kind{
	GVK:      storagev1.SchemeGroupVersion.WithKind("VolumeAttachment"),
	Resource: "volumeattachments", Singular: "volumeattachment",
	Status: true, ReturnDeleted: true, MustVersion: true,
	Default: On(func(a *storagev1.VolumeAttachment) {
		if spec := a.Spec.Source.InlineVolumeSpec; spec != nil {
			defaultVolumeSpec(spec)
		}
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(a *storagev1.VolumeAttachment) {
			a.Status = storagev1.VolumeAttachmentStatus{}
		}),
		ValidateCreate: Check(validation.VolumeAttachment),
		Main: Update{
			Prepare:  Over(func(a, old *storagev1.VolumeAttachment) { a.Status = old.Status }),
			Validate: Compare(validation.VolumeAttachmentUpdate), again: checks{onCreate},
		},
		ForStatus: Update{
			Prepare: Over(func(a, old *storagev1.VolumeAttachment) {
				a.Spec = old.Spec
				metav1.ResetObjectMetaForStatus(a, old)
			}),
			Validate: Compare(validation.VolumeAttachmentUpdate), again: checks{onCreate},
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
			Last: again(validation.AttributesClass),
		},
	},
})
