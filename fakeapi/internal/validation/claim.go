package validation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// Claim checks what a new PersistentVolumeClaim asks for.
func Claim(c *corev1.PersistentVolumeClaim) field.ErrorList {
	return validateClaimSpec(&c.Spec, specPath)
}

func validateClaimSpec(s *corev1.PersistentVolumeClaimSpec, path *field.Path) (errs field.ErrorList) {
	modes := path.Child("accessModes")
	if len(s.AccessModes) == 0 {
		errs = append(errs, field.Required(modes, "at least 1 access mode is required"))
	}
	if s.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(s.Selector,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	}
	errs = append(errs, validateAccess(s.AccessModes, modes)...)
	at := path.Child("resources").Key(string(corev1.ResourceStorage))
	if size, ok := s.Resources.Requests[corev1.ResourceStorage]; ok {
		errs = append(errs, positive(size, at)...)
	} else {
		errs = append(errs, field.Required(at, ""))
	}
	errs = append(errs, className(s.StorageClassName, path.Child("storageClassName"))...)
	errs = append(errs, among(s.VolumeMode, path.Child("volumeMode"), volumeModes...)...)
	if d := s.DataSource; d != nil {
		errs = append(errs, validateDataSource(d.Name, d.Kind, d.APIGroup, path.Child("dataSource"))...)
	}
	if d := s.DataSourceRef; d != nil {
		at := path.Child("dataSourceRef")
		errs = append(errs, validateDataSource(d.Name, d.Kind, d.APIGroup, at)...)
		if d.Namespace != nil && *d.Namespace != "" {
			errs = append(errs, named(*d.Namespace, at.Child("namespace"), apivalidation.ValidateNamespaceName)...)
		}
	}
	if wrong := disagreeing(s); wrong != "" {
		errs = append(errs, field.Invalid(path, path.Child("dataSource"), wrong))
	}
	return append(errs, className(s.VolumeAttributesClassName, path.Child("volumeAttributesClassName"))...)
}

// className checks the name of a class, if there is one.
func className(name *string, path *field.Path) field.ErrorList {
	if name == nil || *name == "" {
		return nil
	}
	return named(*name, path, apivalidation.NameIsDNSSubdomain)
}

func validateDataSource(name, kind string, group *string, path *field.Path) (errs field.ErrorList) {
	errs = append(required(name, path.Child("name")), required(kind, path.Child("kind"))...)
	switch {
	case (group == nil || *group == "") && kind != "PersistentVolumeClaim":
		errs = append(errs, field.Invalid(path, kind,
			"must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	case group != nil && *group != "":
		errs = append(errs, named(*group, path.Child("apiGroup"), apivalidation.NameIsDNSSubdomain)...)
	}
	return errs
}

// disagreeing says what is wrong with the old and the new way to name a source
// when both are used.
func disagreeing(s *corev1.PersistentVolumeClaimSpec) string {
	now, was := s.DataSourceRef, s.DataSource
	switch {
	case now == nil || was == nil:
		return ""
	case now.Namespace != nil && *now.Namespace != "":
		return "may not be specified when dataSourceRef.namespace is specified"
	case now.Kind != was.Kind || now.Name != was.Name || !equality.Semantic.DeepEqual(now.APIGroup, was.APIGroup):
		return "must match dataSourceRef"
	}
	return ""
}

// ClaimUpdate checks a change: a volume's name is given once, an unset class may be
// set, and a bound claim may be resized and get other attributes.
func ClaimUpdate(c, old *corev1.PersistentVolumeClaim) field.ErrorList {
	errs := Claim(c)
	now, was := c.Spec.DeepCopy(), old.Spec.DeepCopy()
	if was.VolumeName == "" {
		was.VolumeName = now.VolumeName
	}
	errs = append(errs, keepClass(c, old, now, was)...)
	if c.Status.Phase == corev1.ClaimBound {
		if now.Resources.Requests != nil {
			now.Resources.Requests[corev1.ResourceStorage] = was.Resources.Requests[corev1.ResourceStorage]
		}
		now.VolumeAttributesClassName = was.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(now, was) {
		errs = append(errs, field.Forbidden(specPath, "spec is immutable after creation except resources.requests "+
			"and volumeAttributesClassName for bound claims\n"+diff.Diff(asShown(was), asShown(now))))
	}
	size := c.Spec.Resources.Requests.Storage()
	if size.Cmp(*old.Spec.Resources.Requests.Storage()) < 0 && size.Cmp(*old.Status.Capacity.Storage()) <= 0 {
		errs = append(errs, field.Forbidden(specPath.Child("resources", "requests", "storage"),
			"field can not be less than status.capacity"))
	}
	errs = append(errs, apivalidation.ValidateImmutableField(c.Spec.VolumeMode, old.Spec.VolumeMode,
		field.NewPath("volumeMode"))...)
	class := c.Spec.VolumeAttributesClassName
	if old.Status.CurrentVolumeAttributesClassName == nil ||
		equality.Semantic.DeepEqual(class, old.Spec.VolumeAttributesClassName) {
		return errs
	}
	const when = " is forbidden when status.currentVolumeAttributesClassName is not nil"
	if path := specPath.Child("volumeAttributesClassName"); class == nil {
		errs = append(errs, field.Forbidden(path, "update to nil"+when))
	} else if *class == "" {
		errs = append(errs, field.Forbidden(path, "update to empty string"+when))
	}
	return errs
}

// keepClass holds the annotation that once named the storage class, and takes a class
// out of the comparison that is the annotation's or the first.
func keepClass(c, old *corev1.PersistentVolumeClaim, now, was *corev1.PersistentVolumeClaimSpec) field.ErrorList {
	const key = corev1.BetaStorageClassAnnotation
	noted, annotated := old.Annotations[key]
	text, still := c.Annotations[key]
	first := now.StorageClassName != nil && was.StorageClassName == nil
	if first && annotated && *now.StorageClassName == noted && (!still || text == noted) {
		now.StorageClassName = nil
		return nil
	}
	if first && (!annotated || *now.StorageClassName == noted) {
		now.StorageClassName = nil
	}
	if text == noted {
		return nil
	}
	return field.ErrorList{field.Invalid(metadata.Path.Child("annotations", key), text,
		apivalidation.FieldImmutableErrorMsg)}
}

var resizeStatuses = []corev1.ClaimResourceStatus{corev1.PersistentVolumeClaimControllerResizeInProgress,
	corev1.PersistentVolumeClaimControllerResizeInfeasible, corev1.PersistentVolumeClaimNodeResizeInProgress,
	corev1.PersistentVolumeClaimNodeResizeInfeasible, corev1.PersistentVolumeClaimNodeResizePending}

// ClaimStatus checks sizes, and how far a resize is.
func ClaimStatus(c, _ *corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	s := &c.Status
	for _, name := range slices.Sorted(maps.Keys(s.Capacity)) {
		errs = append(errs, basic(s.Capacity[name], statusPath.Child("capacity").Key(string(name)))...)
	}
	path := statusPath.Child("allocatedResourceStatuses")
	for _, name := range slices.Sorted(maps.Keys(s.AllocatedResourceStatuses)) {
		errs = append(errs, claimResource(name, path)...)
		if !oneOf(s.AllocatedResourceStatuses[name], resizeStatuses) {
			errs = append(errs, field.NotSupported(path, name, slices.Sorted(slices.Values(resizeStatuses))))
		}
	}
	path = statusPath.Child("allocatedResources")
	for _, name := range slices.Sorted(maps.Keys(s.AllocatedResources)) {
		if wrong := claimResource(name, path); len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		errs = append(errs, basic(s.AllocatedResources[name], path.Key(string(name)))...)
	}
	return errs
}

// claimResource: of the resources without a domain a claim has storage alone.
func claimResource(name corev1.ResourceName, path *field.Path) field.ErrorList {
	if errs := qualified(string(name), path); len(errs) > 0 {
		return errs
	}
	if nativeResource(name) && name != corev1.ResourceStorage {
		return field.ErrorList{field.NotSupported(path, string(name), []corev1.ResourceName{corev1.ResourceStorage})}
	}
	return nil
}

// nativeResource says whether a resource is one of Kubernetes' own.
func nativeResource(name corev1.ResourceName) bool {
	return !strings.Contains(string(name), "/") || strings.Contains(string(name), corev1.ResourceDefaultNamespacePrefix)
}
