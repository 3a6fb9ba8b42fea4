package validation

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CSINode checks the drivers of a node.
func CSINode(n *storagev1.CSINode) (errs field.ErrorList) {
	for i := range n.Spec.Drivers {
		d, path := &n.Spec.Drivers[i], specPath.Child("drivers").Index(i)
		errs = append(errs, driverName(d.Name, path.Child("name"))...)
		errs = append(errs, required(d.NodeID, path.Child("nodeID"))...)
		if len(d.NodeID) > 256 {
			errs = append(errs, field.Invalid(path.Child("nodeID"), d.NodeID, "must be 256 characters or less"))
		}
		if a := d.Allocatable; a != nil && a.Count != nil {
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*a.Count),
				path.Child("allocatable", "count"))...)
		}
		if slices.ContainsFunc(n.Spec.Drivers[:i], func(o storagev1.CSINodeDriver) bool { return o.Name == d.Name }) {
			errs = append(errs, field.Duplicate(path.Child("name"), d.Name))
		}
		for j, key := range d.TopologyKeys {
			errs = append(errs, required(key, path)...)
			if slices.Contains(d.TopologyKeys[:j], key) {
				errs = append(errs, field.Duplicate(path, key))
			}
			errs = append(errs, qualified(key, path)...)
		}
	}
	return errs
}

// CSINodeUpdate checks that a driver stays what it is, but for how many volumes it takes.
func CSINodeUpdate(n, old *storagev1.CSINode) field.ErrorList {
	errs := CSINode(n)
	for _, was := range old.Spec.Drivers {
		for _, now := range n.Spec.Drivers {
			if was.Name == now.Name {
				was.Allocatable, now.Allocatable = nil, nil
				for _, err := range apivalidation.ValidateImmutableField(now, was, specPath.Child("drivers")) {
					err.BadValue = asShown(&now)
					errs = append(errs, err)
				}
			}
		}
	}
	return errs
}

// VolumeAttachment checks who attaches which volume where, and what came of it.
func VolumeAttachment(a *storagev1.VolumeAttachment) field.ErrorList {
	source := specPath.Child("source")
	errs := driverName(a.Spec.Attacher, specPath.Child("attacher"))
	name, inline := a.Spec.Source.PersistentVolumeName, a.Spec.Source.InlineVolumeSpec
	const either = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch {
	case inline == nil && name == nil:
		errs = append(errs, field.Required(source, either))
	case inline != nil && name != nil:
		errs = append(errs, field.Forbidden(source, either))
	case inline != nil:
		errs = append(errs, validateInline(inline, source.Child("inlineVolumeSpec"))...)
	case *name == "":
		errs = append(errs, field.Required(source.Child("persistentVolumeName"),
			"must specify non empty persistentVolumeName"))
	}
	errs = append(errs, named(a.Spec.NodeName, specPath.Child("nodeName"), apivalidation.NameIsDNSSubdomain)...)
	errs = append(errs, validateAttached(&a.Status, field.NewPath("status"))...)
	if name != nil {
		errs = append(errs, named(*name, field.NewPath("spec.source.persistentVolumeName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}

// VolumeAttachmentUpdate checks that the spec stays the same, too.
func VolumeAttachmentUpdate(a, old *storagev1.VolumeAttachment) field.ErrorList {
	errs := VolumeAttachment(a)
	for _, err := range apivalidation.ValidateImmutableField(a.Spec, old.Spec, specPath) {
		err.BadValue = asShown(&a.Spec)
		errs = append(errs, err)
	}
	return errs
}

func validateAttached(s *storagev1.VolumeAttachmentStatus, path *field.Path) (errs field.ErrorList) {
	const most, longest = 256 * 1024, 1024
	size := 0
	for k, v := range s.AttachmentMetadata { //detcheck:ordered a sum
		size += len(k) + len(v)
	}
	if size > most {
		errs = append(errs, field.TooLong(path.Child("attachmentMetadata"), "", most))
	}
	for _, one := range [...]struct {
		name string
		err  *storagev1.VolumeError
	}{{"attachError", s.AttachError}, {"detachError", s.DetachError}} {
		if one.err == nil {
			continue
		}
		if len(one.err.Message) > longest {
			errs = append(errs, field.TooLong(path.Child(one.name, "message"), "", most))
		}
		if c := one.err.ErrorCode; c != nil && *c < 0 {
			errs = append(errs, field.Invalid(path.Child(one.name, "errorCode"), *c,
				utilvalidation.InclusiveRangeError(0, math.MaxInt32)))
		}
	}
	return errs
}

// validateInline checks a volume that is described where it is attached.
func validateInline(s *corev1.PersistentVolumeSpec, path *field.Path) (errs field.ErrorList) {
	forbid := func(is bool, name, why string) {
		if is {
			errs = append(errs, field.Forbidden(path.Child(name), why))
		}
	}
	const not = "may not be specified in the context of inline volumes"
	forbid(s.ClaimRef != nil, "claimRef", not)
	forbid(len(s.Capacity) != 0, "capacity", not)
	if s.CSI == nil {
		errs = append(errs, field.Required(path.Child("csi"), "has to be specified in the context of inline volumes"))
	}
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), ""))
	}
	errs = append(errs, validateAccess(s.AccessModes, path.Child("accessModes"))...)
	forbid(s.PersistentVolumeReclaimPolicy != "" && s.PersistentVolumeReclaimPolicy !=
		corev1.PersistentVolumeReclaimRetain, "persistentVolumeReclaimPolicy",
		fmt.Sprintf("may only be %s in the context of inline volumes", corev1.PersistentVolumeReclaimRetain))
	forbid(s.NodeAffinity != nil, "nodeAffinity", not)
	errs = append(errs, validateVolumeSource(s, "", path)...)
	forbid(s.StorageClassName != "", "storageClassName", not)
	forbid(s.VolumeMode != nil && *s.VolumeMode != corev1.PersistentVolumeFilesystem, "volumeMode",
		fmt.Sprintf("may not specify volumeMode other than %s in the context of inline volumes",
			corev1.PersistentVolumeFilesystem))
	return errs
}
