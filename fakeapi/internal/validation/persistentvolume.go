package validation

import (
	"path"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// accessModes are the ways to mount a volume, sorted.
var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany, corev1.ReadWriteMany,
	corev1.ReadWriteOnce, corev1.ReadWriteOncePod}

var volumeModes = []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}

// PersistentVolume checks modes, capacity, policy, source and class.
func PersistentVolume(v *corev1.PersistentVolume) (errs field.ErrorList) {
	s := &v.Spec
	errs = validateAccess(s.AccessModes, "", specPath.Child("accessModes"))
	capacity := specPath.Child("capacity")
	if len(s.Capacity) == 0 {
		errs = append(errs, field.Required(capacity, ""))
	}
	size, ok := s.Capacity[corev1.ResourceStorage]
	if !ok || len(s.Capacity) > 1 {
		errs = append(errs, field.NotSupported(capacity, s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	if ok && size.Sign() <= 0 {
		errs = append(errs, field.Invalid(capacity.Key("storage"), size.String(), "must be greater than zero"))
	}
	if s.PersistentVolumeReclaimPolicy != "" {
		errs = append(errs, among(&s.PersistentVolumeReclaimPolicy, specPath.Child("persistentVolumeReclaimPolicy"),
			corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle,
			corev1.PersistentVolumeReclaimRetain)...)
	}
	if s.NodeAffinity != nil && s.NodeAffinity.Required == nil {
		errs = append(errs, field.Required(specPath.Child("nodeAffinity", "required"),
			"must specify required node constraints"))
	}
	errs = append(errs, validateVolumeSource(s)...)
	if h := s.HostPath; h != nil && path.Clean(h.Path) == "/" &&
		s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(specPath.Child("persistentVolumeReclaimPolicy"),
			"may not be 'recycle' for a hostPath mount of '/'"))
	}
	if s.StorageClassName != "" {
		errs = append(errs, named(s.StorageClassName, specPath.Child("storageClassName"),
			apivalidation.NameIsDNSSubdomain)...)
	}
	return append(errs, among(s.VolumeMode, specPath.Child("volumeMode"), volumeModes...)...)
}

// validateAccess checks access modes, of which there have to be some.
func validateAccess(modes []corev1.PersistentVolumeAccessMode, none string, path *field.Path) (errs field.ErrorList) {
	if len(modes) == 0 {
		errs = append(errs, field.Required(path, none))
	}
	single, other := false, false
	for i := range modes {
		errs = append(errs, among(&modes[i], path, accessModes...)...)
		single = single || modes[i] == corev1.ReadWriteOncePod
		other = other || modes[i] != corev1.ReadWriteOncePod && slices.Contains(accessModes, modes[i])
	}
	if single && other {
		errs = append(errs, field.Forbidden(path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

// validateVolumeSource checks that there is one source. What is in it is checked
// of the sources that clusters of today have; the others are stored as they come.
func validateVolumeSource(s *corev1.PersistentVolumeSpec) (errs field.ErrorList) {
	sources := reflect.ValueOf(&s.PersistentVolumeSource).Elem()
	n := 0
	for i := range sources.NumField() {
		if sources.Field(i).IsNil() {
			continue
		}
		name, _, _ := strings.Cut(sources.Type().Field(i).Tag.Get("json"), ",")
		if n++; n > 1 {
			errs = append(errs, field.Forbidden(specPath.Child(name), "may not specify more than 1 volume type"))
			continue
		}
		switch source := sources.Field(i).Interface().(type) {
		case *corev1.HostPathVolumeSource:
			errs = append(errs, localPath(source.Path, specPath.Child(name))...)
		case *corev1.NFSVolumeSource:
			errs = append(errs, validateNFS(source, specPath.Child(name))...)
		case *corev1.CSIPersistentVolumeSource:
			errs = append(errs, mustName(source.Driver, specPath.Child(name, "driver"),
				apivalidation.NameIsDNSSubdomain)...)
			if source.VolumeHandle == "" {
				errs = append(errs, field.Required(specPath.Child(name, "volumeHandle"), ""))
			}
		case *corev1.LocalVolumeSource:
			errs = append(errs, localPath(source.Path, specPath.Child(name))...)
			if s.NodeAffinity == nil {
				errs = append(errs, field.Required(specPath.Child("nodeAffinity"),
					"Local volume requires node affinity"))
			}
		}
	}
	if n == 0 {
		errs = append(errs, field.Required(specPath, "must specify a volume type"))
	}
	return errs
}

func localPath(text string, path *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(path.Child("path"), "")}
	case slices.Contains(strings.Split(text, "/"), ".."):
		return field.ErrorList{field.Invalid(path.Child("path"), text, "must not contain '..'")}
	}
	return nil
}

func validateNFS(n *corev1.NFSVolumeSource, at *field.Path) (errs field.ErrorList) {
	if n.Server == "" {
		errs = append(errs, field.Required(at.Child("server"), ""))
	}
	if n.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	}
	if !path.IsAbs(n.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), n.Path, "must be an absolute path"))
	}
	return errs
}

// PersistentVolumeUpdate checks what may not change, after the whole, which the
// real server checks twice.
func PersistentVolumeUpdate(v, old *corev1.PersistentVolume) field.ErrorList {
	errs := append(PersistentVolume(v), PersistentVolume(v)...)
	now, was := &v.Spec.PersistentVolumeSource, &old.Spec.PersistentVolumeSource
	if !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(specPath.Child("persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+diff.Diff(*was, *now)))
	}
	return append(errs, apivalidation.ValidateImmutableField(v.Spec.VolumeMode, old.Spec.VolumeMode,
		field.NewPath("volumeMode"))...)
}
