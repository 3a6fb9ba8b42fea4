package validation

import (
	"maps"
	"path"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PersistentVolume checks modes, capacity, policy, source and class.
func PersistentVolume(v *corev1.PersistentVolume) (errs field.ErrorList) {
	s := &v.Spec
	modes := specPath.Child("accessModes")
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(modes, ""))
	}
	errs = append(errs, validateAccess(s.AccessModes, modes)...)
	capacity := specPath.Child("capacity")
	if len(s.Capacity) == 0 {
		errs = append(errs, field.Required(capacity, ""))
	}
	if _, ok := s.Capacity[corev1.ResourceStorage]; !ok || len(s.Capacity) > 1 {
		errs = append(errs, field.NotSupported(capacity, s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Capacity)) {
		errs = append(errs, basic(s.Capacity[name], capacity.Key(string(name)))...)
		errs = append(errs, positive(s.Capacity[name], capacity.Key(string(name)))...)
	}
	if s.PersistentVolumeReclaimPolicy != "" {
		errs = append(errs, among(&s.PersistentVolumeReclaimPolicy, specPath.Child("persistentVolumeReclaimPolicy"),
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle,
			corev1.PersistentVolumeReclaimRetain)...)
	}
	if a := s.NodeAffinity; a != nil && a.Required == nil {
		errs = append(errs, field.Required(specPath.Child("nodeAffinity", "required"),
			"must specify required node constraints"))
	} else if a != nil {
		errs = append(errs, validateNodeSelector(a.Required, specPath.Child("nodeAffinity", "required"))...)
	}
	errs = append(errs, validateVolumeSource(s, v.Name, specPath)...)
	if h := s.HostPath; h != nil && path.Clean(h.Path) == "/" &&
		s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(specPath.Child("persistentVolumeReclaimPolicy"),
			"may not be 'recycle' for a hostPath mount of '/'"))
	}
	if s.StorageClassName != "" {
		errs = append(errs, named(s.StorageClassName, specPath.Child("storageClassName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	errs = append(errs, among(s.VolumeMode, specPath.Child("volumeMode"), volumeModes...)...)
	if class := s.VolumeAttributesClassName; class != nil {
		at := specPath.Child("volumeAttributesClassName")
		if *class == "" {
			errs = append(errs, field.Required(at, "an empty string is disallowed"))
		}
		errs = append(errs, className(class, at)...)
		if s.CSI == nil {
			errs = append(errs, field.Required(specPath.Child("csi"),
				"has to be specified when using volumeAttributesClassName"))
		}
	}
	return errs
}

// volumeOrder is the order in which the real server looks at the sources.
var volumeOrder = []string{"HostPath", "GCEPersistentDisk", "AWSElasticBlockStore", "Glusterfs", "Flocker", "NFS",
	"RBD", "Quobyte", "CephFS", "ISCSI", "Cinder", "FC", "FlexVolume", "AzureFile", "VsphereVolume",
	"PhotonPersistentDisk", "PortworxVolume", "AzureDisk", "ScaleIO", "Local", "StorageOS", "CSI"}

// validateVolumeSource checks that there is one source, and what it says.
func validateVolumeSource(s *corev1.PersistentVolumeSpec, name string, path *field.Path) field.ErrorList {
	check := func(source any, at *field.Path) (errs field.ErrorList) {
		switch source := source.(type) {
		case *corev1.CSIPersistentVolumeSource:
			return validateCSI(source, at)
		case *corev1.LocalVolumeSource:
			errs = append(required(source.Path, at.Child("path")), noBacksteps(source.Path, at.Child("path"))...)
			if s.NodeAffinity == nil {
				errs = append(errs, field.Required(path.Child("nodeAffinity"),
					"Local volume requires node affinity"))
			}
			return errs
		}
		return validateRemote(source, name, at)
	}
	errs, n := eachSource(reflect.ValueOf(&s.PersistentVolumeSource).Elem(), volumeOrder, path, check)
	if n == 0 {
		errs = append(errs, field.Required(path, "must specify a volume type"))
	}
	return errs
}

// validateRemote checks sources that differ from those of Pods in that what they name
// may be in another namespace.
func validateRemote(source any, volume string, at *field.Path) (errs field.ErrorList) {
	both := func(ref *corev1.SecretReference) field.ErrorList {
		if ref == nil {
			return nil
		}
		return append(required(ref.Name, at.Child("secretRef", "name")),
			required(ref.Namespace, at.Child("secretRef", "namespace"))...)
	}
	switch s := source.(type) {
	case *corev1.GlusterfsPersistentVolumeSource:
		errs = append(required(s.EndpointsName, at.Child("endpoints")), required(s.Path, at.Child("path"))...)
		if ns := s.EndpointsNamespace; ns != nil && *ns == "" {
			errs = append(errs, field.Invalid(at.Child("endpointsNamespace"), *ns,
				"if the endpointnamespace is set, it must be a valid namespace name"))
		} else if ns != nil {
			errs = append(errs, named(*ns, at.Child("endpointsNamespace"), apivalidation.ValidateNamespaceName)...)
		}
	case *corev1.ISCSIPersistentVolumeSource:
		errs = required(s.TargetPortal, at.Child("targetPortal"))
		if s.InitiatorName != nil && len(volume+":"+s.TargetPortal) > 64 {
			errs = append(errs, field.Invalid(at.Child("targetportal"), s.TargetPortal, longPortal))
		}
		errs = append(errs, validateISCSIRest(&iscsi{s.TargetPortal, s.IQN, s.Lun,
			s.DiscoveryCHAPAuth || s.SessionCHAPAuth, s.SecretRef != nil, s.InitiatorName,
			"must be valid format"}, at)...)
	case *corev1.CinderPersistentVolumeSource:
		return append(required(s.VolumeID, at.Child("volumeID")), both(s.SecretRef)...)
	case *corev1.AzureFilePersistentVolumeSource:
		errs = append(required(s.SecretName, at.Child("secretName")), required(s.ShareName, at.Child("shareName"))...)
		if s.SecretNamespace != nil {
			errs = append(errs, required(*s.SecretNamespace, at.Child("secretNamespace"))...)
		}
	case *corev1.StorageOSPersistentVolumeSource:
		errs = storageOS(s.VolumeName, s.VolumeNamespace, at)
		if ref := s.SecretRef; ref != nil {
			errs = append(errs, both(&corev1.SecretReference{Name: ref.Name, Namespace: ref.Namespace})...)
		}
	default:
		return validateDisk(source, at)
	}
	return errs
}

func validateCSI(s *corev1.CSIPersistentVolumeSource, at *field.Path) field.ErrorList {
	errs := append(driverName(s.Driver, at.Child("driver")), required(s.VolumeHandle, at.Child("volumeHandle"))...)
	for _, one := range [...]struct {
		name string
		ref  *corev1.SecretReference
	}{{"controllerPublishSecretRef", s.ControllerPublishSecretRef},
		{"controllerExpandSecretRef", s.ControllerExpandSecretRef},
		{"nodePublishSecretRef", s.NodePublishSecretRef}, {"nodeExpandSecretRef", s.NodeExpandSecretRef}} {
		if one.ref == nil {
			continue
		}
		errs = append(errs, mustName(one.ref.Name, at.Child(one.name, "name"), apivalidation.NameIsDNSSubdomain)...)
		errs = append(errs, mustName(one.ref.Namespace, at.Child(one.name, "namespace"),
			plain(utilvalidation.IsDNS1123Label))...)
	}
	return errs
}

// PersistentVolumeUpdate checks what may not change, after the whole, which the
// real server checks twice.
func PersistentVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	errs := append(PersistentVolume(v), PersistentVolume(v)...)
	now, was := &v.Spec.PersistentVolumeSource, &old.Spec.PersistentVolumeSource
	if was.CSI != nil && was.CSI.ControllerExpandSecretRef == nil && now.CSI != nil {
		now = now.DeepCopy()
		now.CSI.ControllerExpandSecretRef = nil
	}
	if !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(specPath.Child("persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+diff.Diff(asShown(was), asShown(now))))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(v.Spec.VolumeMode, old.Spec.VolumeMode,
		field.NewPath("volumeMode"))...)
	if old.Spec.NodeAffinity != nil && !equality.Semantic.DeepEqual(v.Spec.NodeAffinity, old.Spec.NodeAffinity) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), asShown(v.Spec.NodeAffinity),
			apivalidation.FieldImmutableErrorMsg+", except for updating from beta label to GA"))
	}
	if old.Spec.VolumeAttributesClassName != nil && v.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(specPath.Child("volumeAttributesClassName"),
			"update from non-nil value to nil is forbidden"))
	}
	return errs
}
